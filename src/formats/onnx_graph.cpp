#include "formats/onnx_graph.h"

#include <fmt/format.h>

#include <bit>

namespace sotto::formats {

static_assert(std::endian::native == std::endian::little, "raw data of tensors is little-endian");

namespace {

// Numbers of the fields in onnx.proto.
namespace tensor {
constexpr unsigned dims = 1, data_type = 2, name = 8, raw_data = 9;
constexpr std::uint64_t float32 = 1, int64 = 7;
}  // namespace tensor
namespace node {
constexpr unsigned input = 1, output = 2, name = 3, operation = 4, attribute = 5;
}
namespace attribute {
constexpr unsigned name = 1, integer = 3, integers = 8, type = 20;
constexpr std::uint64_t is_integer = 2, are_integers = 7;
}  // namespace attribute
namespace graph {
constexpr unsigned node = 1, name = 2, initializer = 5, doc = 10, input = 11, output = 12;
}
namespace model {
constexpr unsigned ir_version = 1, producer = 2, graph = 7, opset = 8, metadata = 14;
}

constexpr std::uint64_t opset_version = 13, ir_version_of_opset = 7;

template <class T>
std::string_view raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

ProtobufMessage OnnxGraph::value_info(const std::string& name, const std::vector<Extent>& shape,
                                      std::uint64_t type) {
  ProtobufMessage dimensions;
  for (const Extent& extent : shape) {
    ProtobufMessage one;
    if (extent.name.empty())
      one.add(1, extent.size);
    else
      one.add(2, extent.name);
    dimensions.add(1, one);
  }
  const auto of_tensor = ProtobufMessage().add(1, type).add(2, dimensions);
  return ProtobufMessage().add(1, name).add(2, ProtobufMessage().add(1, of_tensor));
}

std::string OnnxGraph::input(const std::string& name, const std::vector<Extent>& shape) {
  inputs_.push_back(value_info(name, shape, tensor::float32));
  return name;
}

std::string OnnxGraph::integer_input(const std::string& name, const std::vector<Extent>& shape) {
  inputs_.push_back(value_info(name, shape, tensor::int64));
  return name;
}

std::string OnnxGraph::constant(const NamedArray& array) {
  ProtobufMessage made;
  for (const std::uint64_t extent : array.shape) made.add(tensor::dims, extent);
  made.add(tensor::data_type, tensor::float32)
      .add(tensor::name, array.name)
      .add(tensor::raw_data, raw(array.values));
  constants_.push_back(std::move(made));
  return array.name;
}

std::string OnnxGraph::constant(const std::string& name, const std::vector<std::int64_t>& integers) {
  ProtobufMessage made;
  made.add(tensor::dims, integers.size())
      .add(tensor::data_type, tensor::int64)
      .add(tensor::name, name)
      .add(tensor::raw_data, raw(integers));
  constants_.push_back(std::move(made));
  return name;
}

std::string OnnxGraph::add_node(const std::string& operation, const std::vector<std::string>& inputs,
                                const std::vector<std::string>& outputs,
                                const std::vector<Attribute>& attributes) {
  ProtobufMessage made;
  for (const std::string& name : inputs) made.add(node::input, name);
  for (const std::string& name : outputs) made.add(node::output, name);
  made.add(node::name, outputs.back()).add(node::operation, operation);
  for (const Attribute& given : attributes) {
    ProtobufMessage one;
    one.add(attribute::name, given.name);
    for (const std::int64_t number : given.integers)
      one.add(given.list ? attribute::integers : attribute::integer, static_cast<std::uint64_t>(number));
    one.add(attribute::type, given.list ? attribute::are_integers : attribute::is_integer);
    made.add(node::attribute, one);
  }
  nodes_.push_back(std::move(made));
  return outputs.back();
}

std::string OnnxGraph::add(const std::string& operation, const std::vector<std::string>& inputs,
                           const std::vector<Attribute>& attributes, const std::string& output) {
  const std::string name = output.empty() ? fmt::format("{}_{}", operation, nodes_.size()) : output;
  return add_node(operation, inputs, {name}, attributes);
}

std::string OnnxGraph::add_second(const std::string& operation, const std::vector<std::string>& inputs,
                                  const std::vector<Attribute>& attributes) {
  return add_node(operation, inputs, {"", fmt::format("{}_{}", operation, nodes_.size())}, attributes);
}

void OnnxGraph::output(const std::string& name, const std::vector<Extent>& shape) {
  outputs_.push_back(value_info(name, shape, tensor::float32));
}

std::string OnnxGraph::model(std::string_view description,
                             const std::vector<std::pair<std::string, std::string>>& metadata) const {
  ProtobufMessage whole;
  for (const auto& one : nodes_) whole.add(graph::node, one);
  whole.add(graph::name, name_);
  for (const auto& one : constants_) whole.add(graph::initializer, one);
  whole.add(graph::doc, description);
  for (const auto& one : inputs_) whole.add(graph::input, one);
  for (const auto& one : outputs_) whole.add(graph::output, one);
  ProtobufMessage file;
  file.add(model::ir_version, ir_version_of_opset)
      .add(model::producer, "sotto")
      .add(model::graph, whole)
      .add(model::opset, ProtobufMessage().add(1, "").add(2, opset_version));
  for (const auto& [key, text] : metadata)
    file.add(model::metadata, ProtobufMessage().add(1, key).add(2, text));
  return std::string(file.bytes());
}

}  // namespace sotto::formats
