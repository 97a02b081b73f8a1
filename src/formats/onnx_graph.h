#pragma once
// An ONNX model of one graph (opset 13), built node by node. Values are known by name; every node has one
// output, which add() names and returns. Not thread-safe.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/named_array.h"
#include "formats/protobuf_writer.h"

namespace sotto::formats {

class OnnxGraph {
 public:
  // An extent of a shape: a number, or a name for what the caller decides.
  struct Extent {
    Extent(std::uint64_t fixed) : size(fixed) {}  // NOLINT(google-explicit-constructor)
    Extent(const char* called) : name(called) {}  // NOLINT(google-explicit-constructor)
    std::uint64_t size = 0;
    std::string name;
  };
  struct Attribute {
    std::string name;
    std::vector<std::int64_t> integers;  // one: an INT, unless `list`
    bool list = false;
  };

  explicit OnnxGraph(std::string name) : name_(std::move(name)) {}

  std::string input(const std::string& name, const std::vector<Extent>& shape);
  std::string integer_input(const std::string& name, const std::vector<Extent>& shape);
  // A constant of 32-bit floats, or of 64-bit integers.
  std::string constant(const NamedArray& array);
  std::string constant(const std::string& name, const std::vector<std::int64_t>& integers);
  std::string scalar(const std::string& name, float number) {
    return constant(NamedArray{name, {}, {number}});
  }

  std::string add(const std::string& operation, const std::vector<std::string>& inputs,
                  const std::vector<Attribute>& attributes = {}, const std::string& output = "");
  // The second of a node's two outputs (a recurrent unit's last state).
  std::string add_second(const std::string& operation, const std::vector<std::string>& inputs,
                         const std::vector<Attribute>& attributes = {});
  void output(const std::string& name, const std::vector<Extent>& shape);

  // The file. What it says of itself: pairs of key and text.
  std::string model(std::string_view description,
                    const std::vector<std::pair<std::string, std::string>>& metadata) const;

 private:
  std::string add_node(const std::string& operation, const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs, const std::vector<Attribute>& attributes);
  static ProtobufMessage value_info(const std::string& name, const std::vector<Extent>& shape,
                                    std::uint64_t type);

  std::string name_;
  std::vector<ProtobufMessage> nodes_, constants_, inputs_, outputs_;
};

}  // namespace sotto::formats
