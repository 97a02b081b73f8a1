#include "model/bert_layers.h"

#include "model/grouped_rows.h"
#include "model/weighted_rows.h"

namespace sotto {

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

}  // namespace sotto
