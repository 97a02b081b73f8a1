#include "model/bert/bert_model.h"

#include <algorithm>

#include "model/cohort/weighted_rows.h"

namespace sotto::model {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

// rows * weight + bias, column by column, with each user's own gradient of both (and its own weights, where
// users have them).
struct OwnedScale : torch::autograd::Function<OwnedScale> {
  static Tensor forward(AutogradContext* context, const Tensor& rows, const Tensor& weight,
                        const Tensor& bias, const Owners& owners) {
    context->save_for_backward({rows, weight, bias});
    context->saved_data["owners"] = c10::IValue::make_capsule(owners);
    if (!owners->parameters->own()) return rows * weight + bias;
    return rows * own_values(*owners, weight, rows) + own_values(*owners, bias, rows);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const Tensor &rows = saved[0], &weight = saved[1], &bias = saved[2], &dy = grads[0];
    const auto owners =
        c10::static_intrusive_pointer_cast<RowOwners>(context->saved_data["owners"].toCapsule());
    add_grouped_sums(*owners, weight, (dy * rows).to(weight.scalar_type()));
    add_grouped_sums(*owners, bias, dy.to(bias.scalar_type()));
    const bool own = owners->parameters->own();
    return {dy * (own ? own_values(*owners, weight, rows) : weight), Tensor(), Tensor(), Tensor()};
  }

 private:
  // Its owner's values beside every row: [R, columns].
  static Tensor own_values(const RowOwners& owners, const Tensor& parameter, const Tensor& rows) {
    return owners.parameters->values_of(parameter).index_select(0, owner_of_rows(owners, rows.device()));
  }
};

}  // namespace

BertLinear::BertLinear(std::int64_t in, std::int64_t out)
    : weight(register_parameter("weight", torch::empty({in, out}))),
      bias(register_parameter("bias", torch::zeros({out}))) {}

Tensor BertLinear::forward(const Tensor& rows, const Owners& owners) {
  // Nobody owns weights that do not learn.
  return affine(rows, weight, bias, weight.requires_grad() ? owners : Owners());
}

BertNorm::BertNorm(std::int64_t size, double eps)
    : weight(register_parameter("weight", torch::ones({size}))),
      bias(register_parameter("bias", torch::zeros({size}))),
      eps_(eps) {}

Tensor BertNorm::forward(const Tensor& rows, const Owners& owners) {
  if (!owners || !weight.requires_grad())
    return torch::layer_norm(rows, {weight.size(0)}, weight, bias, eps_);
  return OwnedScale::apply(torch::layer_norm(rows, {weight.size(0)}, {}, {}, eps_), weight, bias, owners);
}

BertLayer::BertLayer(const BertConfig& config)
    : qkv(register_module("qkv", std::make_shared<BertLinear>(config.hidden, 3 * config.hidden))),
      out(register_module("out", std::make_shared<BertLinear>(config.hidden, config.hidden))),
      up(register_module("up", std::make_shared<BertLinear>(config.hidden, config.intermediate))),
      down(register_module("down", std::make_shared<BertLinear>(config.intermediate, config.hidden))),
      attention_norm(register_module("attention_norm",
                                     std::make_shared<BertNorm>(config.hidden, config.layer_norm_eps))),
      output_norm(
          register_module("output_norm", std::make_shared<BertNorm>(config.hidden, config.layer_norm_eps))),
      heads_(config.heads),
      activation_(config.activation) {}

Tensor BertLayer::forward(const Tensor& rows, const Segments& texts) {
  const Owners& owners = texts.row_owners();
  const Tensor mixed = ragged_attention(qkv->forward(rows, owners), texts, heads_);
  const Tensor x = attention_norm->forward(rows + out->forward(mixed, owners), owners);
  const Tensor wide = torch::gelu(up->forward(x, owners), activation_ == Gelu::exact ? "none" : "tanh");
  return output_norm->forward(x + down->forward(wide, owners), owners);
}

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

}  // namespace sotto::model
