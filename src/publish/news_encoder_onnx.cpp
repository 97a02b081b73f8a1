#include "publish/news_encoder_onnx.h"

#include <algorithm>
#include <limits>

#include "formats/onnx_graph.h"
#include "publish/onnx_layers.h"

namespace sotto::publish {

namespace {

using formats::NamedArray;
using formats::OnnxGraph;

// The models of src/model/news over one article.
class NewsGraph {
 public:
  NewsGraph(const recipes::TrainedNews& news, std::span<const NamedArray> parameters,
            const model::WordLimits& words)
      : news_(news),
        parameters_(parameters),
        words_(words),
        graph_("news_encoder"),
        layers_(graph_, [this](const std::string& name) { return parameter(name).values; }) {}

  std::string finish(const ExportMetadata& metadata) {
    const std::string row = article();
    const std::uint64_t size = vector_size();
    graph_.add("Reshape", {row, graph_.constant("news_shape", {static_cast<std::int64_t>(size)})}, {},
               "news");
    graph_.output("news", {size});
    return graph_.model(
        "From the words of an article to its vector. Words and categories are numbers: places in the lists "
        "of "
        "news_inputs.json, 1 for a word and 0 for a category that is not among them. A text that an article "
        "does not have is handed in empty, or as 0.",
        metadata);
  }

 private:
  // Rows of words, and which of them are there: [W, size], [W, 1].
  struct Text {
    std::string rows, present;
  };

  std::string article() {
    if (news_.model_name == "naml") return naml();
    const Text title = text("title", words_.title);
    if (news_.model_name == "nrms")
      return layers_.pooled(attended(title, "news.attention", word_size()), "news.pooling", title.present);
    const Text convolved = {layers_.convolved(title.rows, "word_convolution", word_size()), title.present};
    return layers_.pooled(graph_.add("Relu", {attended(convolved, "word_attention", vector_size())}),
                          "word_pooling", title.present);
  }

  // Title, abstract, category and subcategory as rows; those that there are share the weight.
  std::string naml() {
    const Text title = text("title", words_.title), abstract = text("abstract", words_.abstract);
    const std::string views =
        graph_.add("Concat",
                   {encoded("title", title), encoded("abstract", abstract),
                    code("category", "codes.categories"), code("subcategory", "codes.subcategories")},
                   {{"axis", {0}}});
    const std::string present = graph_.add(
        "Concat", {any(title), any(abstract), some("category"), some("subcategory")}, {{"axis", {0}}});
    return layers_.pooled(views, "views", present);
  }
  std::string encoded(const std::string& name, const Text& text) {
    return layers_.pooled(layers_.convolved(text.rows, name + ".convolution", word_size()), name + ".pooling",
                          text.present);
  }

  // 1 where the number is above 0, a row each: [numbers, 1].
  std::string some(const std::string& numbers) {
    return graph_.add("Reshape",
                      {graph_.add("Cast", {graph_.add("Greater", {numbers, nothing()})}, {{"to", {1}}}),
                       graph_.constant(numbers + ".column", {-1, 1})});
  }
  // Of all rows: [1, 1].
  std::string any(const Text& text) { return graph_.add("ReduceMax", {text.present}, {{"axes", {0}, true}}); }
  std::string nothing() {
    if (nothing_.empty()) nothing_ = graph_.constant("nothing", {0});
    return nothing_;
  }

  // The vectors of the first `most` words, and behind them one that is not there: runtimes end the process
  // over a softmax of nothing. Number 0, which fills up, is not there either; its row is zeros, as beyond the
  // ends of a text.
  Text text(const std::string& name, std::size_t most) {
    const std::string words = graph_.integer_input(name, {OnnxGraph::Extent((name + "_words").c_str())});
    const std::string read =
        graph_.add("Slice", {words, graph_.constant(name + ".begin", {0}),
                             graph_.constant(name + ".most", {static_cast<std::int64_t>(most)})});
    const std::string filled = graph_.add("Concat", {read, nothing()}, {{"axis", {0}}});
    const std::string present = some(filled);
    if (table_.empty()) table_ = layers_.weights("words", parameter("words").shape);
    const std::string rows = graph_.add("Gather", {table_, filled}, {{"axis", {0}}});
    return {graph_.add("Mul", {rows, present}), present};
  }

  // Code 0 is the unknown one and has no vector; its view is left out.
  std::string code(const std::string& name, const std::string& table) {
    const std::string given = graph_.integer_input(name, {1});
    const std::string row =
        graph_.add("Max", {graph_.add("Sub", {given, graph_.constant(name + ".first", {1})}), nothing()});
    const std::string vector =
        graph_.add("Gather", {layers_.weights(table, parameter(table).shape), row}, {{"axis", {0}}});
    return graph_.add("Relu", {layers_.dense(vector, name)});
  }

  std::string attended(const Text& text, const std::string& name, std::uint64_t in) {
    return layers_.attended(text.rows, name, in, static_cast<std::uint64_t>(news_.shape.heads),
                            static_cast<std::uint64_t>(news_.shape.head_size), text.present);
  }

  std::uint64_t word_size() const { return parameter("words").shape.back(); }
  std::uint64_t vector_size() const {
    return static_cast<std::uint64_t>(news_.model_name == "naml" ? news_.shape.filters
                                                                 : news_.shape.attention_size());
  }
  const NamedArray& parameter(const std::string& name) const {
    return *std::find_if(parameters_.begin(), parameters_.end(),
                         [&](const NamedArray& array) { return array.name == name; });
  }

  const recipes::TrainedNews& news_;
  std::span<const NamedArray> parameters_;
  model::WordLimits words_;
  OnnxGraph graph_;
  OnnxLayers layers_;
  std::string table_, nothing_;
};

}  // namespace

Result<std::optional<std::string>> news_encoder_onnx(const recipes::TrainedNews& news,
                                                     std::span<const NamedArray> parameters,
                                                     const model::WordLimits& words,
                                                     const ExportMetadata& metadata) {
  if (news.model_name != "nrms" && news.model_name != "naml" && news.model_name != "fednewsrec")
    return std::optional<std::string>();
  // A protobuf message is below 2 GiB, and word vectors are most of it.
  std::uint64_t numbers = 0;
  for (const NamedArray& array : parameters) numbers += array.values.size();
  if (numbers * sizeof(float) >= (std::uint64_t{1} << 31) - (std::uint64_t{1} << 20))
    return bad_input(
        "the news encoder has {} numbers, more than an ONNX file of 2 GiB holds: export safetensors, or "
        "train "
        "with a smaller vocabulary (--set max_vocabulary=N)",
        numbers);
  return std::optional(NewsGraph(news, parameters, words).finish(metadata));
}

}  // namespace sotto::publish
