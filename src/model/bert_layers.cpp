#include "model/bert_layers.h"

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
    Tensor out = torch::empty_like(rows);
    for_each_user(*owners, [&](std::int64_t user, std::int64_t first, std::int64_t count) {
      Tensor part = out.narrow(0, first, count);
      part.copy_(rows.narrow(0, first, count) * owners->parameters->value(user, weight) +
                 owners->parameters->value(user, bias));
    });
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const Tensor &rows = saved[0], &weight = saved[1], &bias = saved[2], &dy = grads[0];
    const auto owners =
        c10::static_intrusive_pointer_cast<RowOwners>(context->saved_data["owners"].toCapsule());
    UserParameters& parameters = *owners->parameters;
    const Tensor to_weight = dy * rows;
    Tensor dx = parameters.own() ? torch::empty_like(rows) : dy * weight;
    for_each_user(*owners, [&](std::int64_t user, std::int64_t first, std::int64_t count) {
      parameters.gradient(user, weight).add_(to_weight.narrow(0, first, count).sum(0));
      parameters.gradient(user, bias).add_(dy.narrow(0, first, count).sum(0));
      if (parameters.own())
        dx.narrow(0, first, count).copy_(dy.narrow(0, first, count) * parameters.value(user, weight));
    });
    return {dx, Tensor(), Tensor(), Tensor()};
  }

 private:
  template <class Body>
  static void for_each_user(const RowOwners& owners, const Body& body) {
    for (std::int64_t user = 0; user < owners.users(); ++user) {
      const auto at = static_cast<std::size_t>(user);
      const std::int64_t first = owners.offsets[at], count = owners.offsets[at + 1] - first;
      if (count > 0) body(user, first, count);
    }
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
