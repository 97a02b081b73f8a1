#include "publish/user_encoder_onnx.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "device/model/user_model.h"
#include "publish/onnx_layers.h"

namespace sotto::publish {

namespace {

using formats::NamedArray;
using formats::OnnxGraph;

// The user models of device/model/user_model.cpp over rows [clicks, D].
class UserGraph {
 public:
  UserGraph(const device::PackUserModel& model, std::uint32_t dimension)
      : model_(model),
        dimension_(dimension),
        graph_("user_encoder"),
        layers_(graph_, [this](const std::string& name) { return tensor(name).floats(); }),
        clicks_(graph_.input("clicks", {"clicks", dimension})) {}

  Result<std::string> finish(const std::vector<std::pair<std::string, std::string>>& metadata) {
    const std::string row = user();
    if (row.empty()) return bad_input("there is no ONNX graph of the user model '{}'", model_.kind);
    graph_.add("Reshape", {row, integers("user_shape", {dimension_})}, {}, "user");
    graph_.output("user", {dimension_});
    return graph_.model(
        "From the vectors of clicked items, oldest first, to the vector of their reader. An item's score is "
        "the product "
        "of both vectors. Hand in one row of zeros for a reader without clicks, and the newest max_history "
        "clicks of "
        "others.",
        metadata);
  }

 private:
  // The kinds of device::user_model_kinds; empty: another.
  std::string user() {
    if (model_.kind == "nrms") return layers_.pooled(attended("user.attention"), "user.pooling");
    if (model_.kind == "naml") return layers_.pooled(clicks_, "clicks");
    if (model_.kind == "fednewsrec") {
      const std::string long_term = layers_.pooled(attended("click_attention"), "click_pooling");
      return layers_.pooled(graph_.add("Concat", {long_term, recent("recent_clicks")}, {{"axis", {0}}}),
                            "merge_pooling");
    }
    if (model_.kind == "catalogue") return catalogue();
    if (model_.kind == "sum") return summed();
    if (model_.kind == "mean") return graph_.add("ReduceMean", {clicks_}, {{"axes", {0}, true}});
    return "";
  }

  std::string integers(const std::string& name, const std::vector<std::int64_t>& values) {
    return graph_.constant(name, values);
  }
  const device::PackTensor& tensor(const std::string& name) const {
    return *std::find_if(model_.weights.begin(), model_.weights.end(),
                         [&](const device::PackTensor& weights) { return weights.name == name; });
  }
  std::string weights(const std::string& name, const std::vector<std::uint64_t>& shape) {
    return layers_.weights(name, shape);
  }
  std::string attended(const std::string& name) {
    return layers_.attended(clicks_, name, dimension_, model_.heads, dimension_ / model_.heads);
  }

  // ONNX's gated recurrent unit is ours: reset before the product. Its weights are transposed, in the same
  // order.
  std::string recent(const std::string& name) {
    const std::uint64_t size = dimension_;
    const auto transposed = [&](const std::string& part, std::uint64_t columns) {
      const std::vector<float> values = tensor(name + part).floats();
      std::vector<float> turned(values.size());
      for (std::uint64_t row = 0; row < size; ++row)
        for (std::uint64_t column = 0; column < columns; ++column)
          turned[column * size + row] = values[row * columns + column];
      return turned;
    };
    std::vector<float> recurrent = transposed(".gates", 2 * size);
    const std::vector<float> candidate = transposed(".candidate", size);
    recurrent.insert(recurrent.end(), candidate.begin(), candidate.end());
    std::vector<float> bias = tensor(name + ".bias").floats();
    bias.resize(6 * size);  // the second half is of the recurrent product, which has none
    const std::string last = graph_.add(
        "Slice", {clicks_, integers(name + ".first", {-static_cast<std::int64_t>(model_.recent_clicks)}),
                  integers(name + ".last", {std::numeric_limits<std::int64_t>::max()}),
                  integers(name + ".axis", {0})});
    const std::string sequence =
        graph_.add("Unsqueeze", {last, integers(name + ".batch", {1})});  // [clicks, 1, D]
    const std::string state = graph_.add_second(
        "GRU",
        {sequence,
         graph_.constant(NamedArray{name + ".input", {1, 3 * size, size}, transposed(".input", 3 * size)}),
         graph_.constant(NamedArray{name + ".recurrent", {1, 3 * size, size}, std::move(recurrent)}),
         graph_.constant(NamedArray{name + ".both_biases", {1, 6 * size}, std::move(bias)})},
        {{"hidden_size", {static_cast<std::int64_t>(size)}}});
    return graph_.add("Reshape", {state, integers(name + ".row", {1, dimension_})});
  }

  // average + W/(W + doubt) · scale ∘ pooled clicks
  std::string catalogue() {
    const std::string rows =
        layers_.weighted(graph_.add("MatMul", {clicks_, weights("query", {dimension_, 1})}), clicks_);
    std::vector<float> scale = tensor("scale").floats();
    for (float& entry : scale) entry = std::exp(entry);
    const std::string count = graph_.add(
        "Cast", {graph_.add("Gather", {graph_.add("Shape", {clicks_}), integers("first_extent", {0})})},
        {{"to", {1}}});
    const std::string doubt = graph_.scalar("doubt", std::exp(tensor("doubt").floats().front()));
    const std::string trust = graph_.add("Div", {count, graph_.add("Add", {count, doubt})});
    const std::string scaled =
        graph_.add("Mul", {rows, graph_.constant(NamedArray{"scale", {1, dimension_}, std::move(scale)})});
    return graph_.add("Add", {weights("average", {1, dimension_}), graph_.add("Mul", {scaled, trust})});
  }

  // constant + (Σ clicks · mix) / √n, of the n clicks that say something
  std::string summed() {
    const std::string said = graph_.add("MatMul", {clicks_, weights("mix", {dimension_, dimension_})});
    const std::string largest =
        graph_.add("ReduceMax", {graph_.add("Abs", {said})}, {{"axes", {1}, true}});  // [W, 1]
    const std::string heard =
        graph_.add("Cast", {graph_.add("Greater", {largest, graph_.scalar("nothing", 0)})}, {{"to", {1}}});
    const std::string over_clicks = integers("over_clicks", {0});
    const std::string count =
        graph_.add("Max", {graph_.add("ReduceSum", {heard, over_clicks}), graph_.scalar("one", 1)});
    const std::string sum = graph_.add("ReduceSum", {said, over_clicks});
    return graph_.add(
        "Add", {weights("constant", {1, dimension_}), graph_.add("Div", {sum, graph_.add("Sqrt", {count})})});
  }

  const device::PackUserModel& model_;
  std::uint32_t dimension_;
  OnnxGraph graph_;
  OnnxLayers layers_;
  std::string clicks_;
};

}  // namespace

Result<std::string> user_encoder_onnx(const device::PackUserModel& model, std::uint32_t dimension,
                                      const std::vector<std::pair<std::string, std::string>>& metadata) {
  // The device's own checks of names and shapes: what it accepts, the graph can be made of.
  std::vector<device::NamedTensor> weights;
  for (const device::PackTensor& tensor : model.weights)
    weights.push_back({tensor.name, tensor.shape, tensor.floats()});
  const device::UserModelShape shape{model.kind, dimension, model.heads, model.recent_clicks};
  SOTTO_CHECK(device::UserModel::create(shape, weights));
  return UserGraph(model, dimension).finish(metadata);
}

}  // namespace sotto::publish
