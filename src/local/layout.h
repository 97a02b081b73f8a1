#pragma once
// What a recipe trains, as names and shapes in the order of one flat vector, and its parts on a tape. The
// text of a layout is what a run's checkpoint and a campaign's layout hash are about: "name:size name:size ".

#include <span>
#include <string>
#include <vector>

#include "local/tape/tape.h"

namespace sotto::local {

class Layout {
 public:
  struct Part {
    std::string name;
    Index rows, cols;
    Index size() const { return rows * cols; }
  };
  explicit Layout(std::vector<Part> parts) : parts_(std::move(parts)) {}

  const std::vector<Part>& parts() const { return parts_; }
  std::size_t size() const;
  std::string text() const;

  // The parts of `flat`, which has size() numbers, as trained inputs of a tape.
  std::vector<Value<float>> on(Tape<float>& tape, std::span<const float> flat) const;
  // sum += the gradients of what on() gave.
  void add_gradients(std::span<const Value<float>> parts, std::span<float> sum) const;

 private:
  std::vector<Part> parts_;
};

}  // namespace sotto::local
