#include "model/bert_model.h"

#include <algorithm>

#include "model/weighted_rows.h"

namespace sotto {

using torch::Tensor;

namespace {

constexpr double start_deviation = 0.02;

}  // namespace

BertModel::BertModel(const BertConfig& config)
    : words(register_parameter("words", torch::empty({config.vocabulary, config.hidden}))),
      positions(register_parameter("positions", torch::empty({config.positions, config.hidden}))),
      token_types(register_parameter("token_types", torch::empty({config.token_types, config.hidden}))),
      embedding_norm(register_module("embedding_norm",
                                     std::make_shared<BertNorm>(config.hidden, config.layer_norm_eps))),
      config_(config) {
  for (std::int64_t i = 0; i < config.layers; ++i)
    layers.push_back(register_module("layer" + std::to_string(i), std::make_shared<BertLayer>(config)));
}

void BertModel::random_start() {
  torch::NoGradGuard no_grad;
  // Vectors are biases, which are zero, and the weights of norms, which are one.
  for (auto& parameter : parameters())
    if (parameter.dim() == 2) parameter.normal_(0, start_deviation);
}

Tensor BertModel::embed(const std::vector<std::int64_t>& pieces, const Segments& texts) {
  TORCH_CHECK(static_cast<std::int64_t>(pieces.size()) == texts.rows(), "every piece belongs to one text");
  TORCH_CHECK(texts.longest() <= config_.positions, "a text of ", texts.longest(), " pieces; the model has ",
              config_.positions, " positions");
  TORCH_CHECK(std::all_of(pieces.begin(), pieces.end(),
                          [&](std::int64_t piece) { return piece >= 0 && piece < config_.vocabulary; }),
              "a piece is outside the model's vocabulary of ", config_.vocabulary);
  std::vector<std::int64_t> places(pieces.size());
  const auto& offsets = texts.offsets();
  for (std::size_t n = 0; n + 1 < offsets.size(); ++n)
    for (std::int64_t i = offsets[n]; i < offsets[n + 1]; ++i)
      places[static_cast<std::size_t>(i)] = i - offsets[n];
  const Owners& owners = texts.row_owners();
  return embedding_norm->forward(lookup(words, pieces, owners) +
                                     lookup(positions, std::move(places), owners) +
                                     lookup(token_types, std::vector<std::int64_t>(pieces.size(), 0), owners),
                                 owners);
}

Tensor BertModel::encode(Tensor states, const Segments& texts, std::int64_t first, std::int64_t last) {
  for (std::int64_t i = first; i < last; ++i)
    states = layers.at(static_cast<std::size_t>(i))->forward(states, texts);
  return states;
}

Tensor BertModel::forward(const std::vector<std::int64_t>& pieces, const Segments& texts) {
  return encode(embed(pieces, texts), texts, 0, config_.layers);
}

void BertModel::train_only(const TrainableParts& parts) {
  for (auto& parameter : parameters()) parameter.set_requires_grad(false);
  if (parts.embeddings) {
    for (Tensor* table : {&words, &positions, &token_types}) table->set_requires_grad(true);
    for (auto& parameter : embedding_norm->parameters()) parameter.set_requires_grad(true);
  }
  for (const std::int64_t layer : parts.layers)
    for (auto& parameter : layers.at(static_cast<std::size_t>(layer))->parameters())
      parameter.set_requires_grad(true);
}

std::int64_t BertModel::first_trained_layer() const {
  if (words.requires_grad()) return 0;
  const auto found = std::find_if(layers.begin(), layers.end(),
                                  [](const auto& layer) { return layer->qkv->weight.requires_grad(); });
  return found - layers.begin();
}

}  // namespace sotto
