#include "local/layout.h"

namespace sotto::local {

std::size_t Layout::size() const {
  Index size = 0;
  for (const Part& part : parts_) size += part.size();
  return static_cast<std::size_t>(size);
}

std::string Layout::text() const {
  std::string text;
  for (const Part& part : parts_) text += part.name + ":" + std::to_string(part.size()) + " ";
  return text;
}

std::vector<Value<float>> Layout::on(Tape<float>& tape, std::span<const float> flat) const {
  require_shape(flat.size() == size(), "parameters of another layout");
  std::vector<Value<float>> values;
  for (const Part& part : parts_) {
    values.push_back(tape.trained(Eigen::Map<const Rows>(flat.data(), part.rows, part.cols)));
    flat = flat.subspan(static_cast<std::size_t>(part.size()));
  }
  return values;
}

void Layout::add_gradients(std::span<const Value<float>> parts, std::span<float> sum) const {
  require_shape(parts.size() == parts_.size() && sum.size() == size(), "gradients of another layout");
  for (const Value<float>& part : parts) {
    Eigen::Map<Rows>(sum.data(), part.rows(), part.cols()) += part.gradient();
    sum = sum.subspan(static_cast<std::size_t>(part.numbers().size()));
  }
}

}  // namespace sotto::local
