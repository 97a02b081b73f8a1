#include "publish/onnx_layers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto::publish {

using formats::NamedArray;

std::string OnnxLayers::weights(const std::string& name, const std::vector<std::uint64_t>& shape) {
  return graph_.constant(NamedArray{name, shape, numbers_(name)});
}

std::string OnnxLayers::attended(const std::string& rows, const std::string& name, std::uint64_t in,
                                 std::uint64_t heads, std::uint64_t head_size, const std::string& present) {
  const auto count = static_cast<std::int64_t>(heads), head = static_cast<std::int64_t>(head_size);
  const std::string projected =
      graph_.add("MatMul", {rows, weights(name + ".weight", {in, 3 * heads * head_size})});
  const std::string split =
      graph_.add("Reshape", {projected, graph_.constant(name + ".split", {-1, 3, count, head})});
  const auto part = [&](const char* which, std::int64_t place, const std::vector<std::int64_t>& order) {
    const std::string taken = graph_.add("Gather", {split, graph_.constant(name + which, {place})},
                                         {{"axis", {1}}});  // [W, 1, heads, head]
    const std::string flat =
        graph_.add("Reshape", {taken, graph_.constant(name + which + ".shape", {-1, count, head})});
    return graph_.add("Transpose", {flat}, {{"perm", order, true}});
  };
  const std::string queries = part(".queries", 0, {1, 0, 2}), keys = part(".keys", 1, {1, 2, 0}),
                    values = part(".values", 2, {1, 0, 2});
  std::string scores =
      graph_.add("Div", {graph_.add("MatMul", {queries, keys}),
                         graph_.scalar(name + ".root", std::sqrt(static_cast<float>(head)))});
  if (!present.empty()) {
    const std::string of_keys =
        graph_.add("Reshape", {barred(present), graph_.constant(name + ".of_keys", {1, 1, -1})});
    scores = graph_.add("Add", {scores, of_keys});  // [heads, W, W]
  }
  const std::string mixed_values =
      graph_.add("MatMul", {graph_.add("Softmax", {scores}, {{"axis", {2}}}), values});
  const std::string ordered =
      graph_.add("Transpose", {mixed_values}, {{"perm", {1, 0, 2}, true}});  // [W, heads, head]
  return graph_.add("Reshape", {ordered, graph_.constant(name + ".join", {-1, count * head})});
}

std::string OnnxLayers::dense(const std::string& rows, const std::string& name) {
  const std::uint64_t out = numbers_(name + ".bias").size();
  const std::uint64_t in = numbers_(name + ".weight").size() / out;
  return graph_.add("Add", {graph_.add("MatMul", {rows, weights(name + ".weight", {in, out})}),
                            weights(name + ".bias", {1, out})});
}

std::string OnnxLayers::convolved(const std::string& rows, const std::string& name, std::uint64_t in) {
  const std::string beyond = graph_.constant(NamedArray{name + ".beyond", {1, in}, std::vector<float>(in)});
  const std::string framed = graph_.add("Concat", {beyond, rows, beyond}, {{"axis", {0}}});  // [W + 2, in]
  const std::string axis = graph_.constant(name + ".axis", {0});
  const auto shifted = [&](const char* which, std::int64_t first, std::int64_t last) {
    return graph_.add("Slice", {framed, graph_.constant(name + which + ".first", {first}),
                                graph_.constant(name + which + ".last", {last}), axis});
  };
  const std::string windows = graph_.add("Concat",
                                         {shifted(".before", 0, -2), shifted(".itself", 1, -1),
                                          shifted(".behind", 2, std::numeric_limits<std::int64_t>::max())},
                                         {{"axis", {1}}});
  return graph_.add("Relu", {dense(windows, name)});
}

std::string OnnxLayers::pooled(const std::string& rows, const std::string& name, const std::string& present) {
  const std::uint64_t hidden = numbers_(name + ".bias").size();
  const std::string scores =
      graph_.add("MatMul", {graph_.add("Tanh", {dense(rows, name)}), weights(name + ".query", {hidden, 1})});
  if (present.empty()) return weighted(scores, rows);
  const std::string shares =
      graph_.add("Softmax", {graph_.add("Add", {scores, barred(present)})}, {{"axis", {0}}});
  return mixed(graph_.add("Mul", {shares, present}), rows);
}

std::string OnnxLayers::barred(const std::string& present) {
  return graph_.add("Mul", {graph_.add("Sub", {present, number("one_there", 1)}), number("never", 1e9F)});
}

std::string OnnxLayers::number(const char* name, float value) {
  if (std::find(known_.begin(), known_.end(), name) != known_.end()) return name;
  known_.emplace_back(name);
  return graph_.scalar(name, value);
}

std::string OnnxLayers::weighted(const std::string& scores, const std::string& rows) {
  return mixed(graph_.add("Softmax", {scores}, {{"axis", {0}}}), rows);
}

std::string OnnxLayers::mixed(const std::string& shares, const std::string& rows) {
  return graph_.add("MatMul", {graph_.add("Transpose", {shares}, {{"perm", {1, 0}, true}}), rows});
}

}  // namespace sotto::publish
