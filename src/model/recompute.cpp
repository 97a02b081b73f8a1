#include "model/recompute.h"

#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/version.h>

#include <algorithm>

namespace sotto::model {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Part = std::function<Tensor(const Tensor&)>;

namespace {

// Lets a function travel with the graph.
struct KeptPart : torch::CustomClassHolder {
  KeptPart(Part kept, Precision of_forward) : part(std::move(kept)), precision(of_forward) {}
  Part part;
  Precision precision;
};

struct RecomputedFunction : torch::autograd::Function<RecomputedFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& input, at::TensorList parameters,
                        const c10::intrusive_ptr<KeptPart>& kept) {
    variable_list saved = parameters.vec();
    saved.push_back(input);
    context->save_for_backward(saved);
    context->saved_data["part"] = c10::IValue::make_capsule(kept);
    return kept->part(input);  // no graph: gradients are off inside a Function
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    variable_list leaves = context->get_saved_variables();
    const auto kept = c10::static_intrusive_pointer_cast<KeptPart>(context->saved_data["part"].toCapsule());
    const bool input_learns = leaves.back().requires_grad();
    Tensor result;
    {
      torch::AutoGradMode with_graph(true);
      const PrecisionRegion region(kept->precision);
      leaves.back() = leaves.back().detach().set_requires_grad(input_learns);
      result = kept->part(leaves.back());
    }
    variable_list wanted;
    for (const Tensor& leaf : leaves)
      if (leaf.requires_grad()) wanted.push_back(leaf);
    // A leaf that this part happens not to read (an unused table) has no gradient.
    const variable_list found =
        torch::autograd::grad({result}, wanted, {grads[0]}, {}, false, /*allow_unused=*/true);
    variable_list all;
    std::size_t next = 0;
    for (const Tensor& leaf : leaves) all.push_back(leaf.requires_grad() ? found[next++] : Tensor());
    // In the order of forward's arguments: the input comes first.
    std::rotate(all.begin(), all.end() - 1, all.end());
    all.emplace_back();
    return all;
  }
};

}  // namespace

Tensor recomputed(Part part, const Tensor& input, variable_list parameters) {
  return RecomputedFunction::apply(
      input, at::TensorList(parameters),
      c10::make_intrusive<KeptPart>(std::move(part), PrecisionRegion::current()));
}

namespace {

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
bool autocast_is_on() { return at::autocast::is_autocast_enabled(at::kCUDA); }
void set_autocast(bool on) {
  at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCUDA, on);
}
#else
bool autocast_is_on() { return at::autocast::is_enabled(); }
void set_autocast(bool on) {
  at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
  at::autocast::set_enabled(on);
}
#endif

}  // namespace

Result<Precision> precision_on(std::string_view name, std::string_view device) {
  if (name == "fp32") return Precision::fp32;
  if (name != "bf16") return bad_input("unknown precision '{}': fp32 or bf16", name);
  if (device != "cuda")
    return bad_input("precision=bf16 needs a GPU (--device cuda): on the CPU train with precision=fp32");
  return Precision::bf16;
}

PrecisionRegion::PrecisionRegion(Precision precision)
    : before_(current()), remembered_(at::autocast::is_autocast_cache_enabled()) {
  // A cast that was made without its graph (recompute.h) must not be found again by a pass that needs it.
  at::autocast::set_autocast_cache_enabled(false);
  set_autocast(precision == Precision::bf16);
}

PrecisionRegion::~PrecisionRegion() {
  set_autocast(before_ == Precision::bf16);
  at::autocast::set_autocast_cache_enabled(remembered_);
}

Precision PrecisionRegion::current() { return autocast_is_on() ? Precision::bf16 : Precision::fp32; }

}  // namespace sotto::model
