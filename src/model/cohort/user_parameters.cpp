#include "model/cohort/user_parameters.h"

namespace sotto::model {

using torch::Tensor;

UserParameters::UserParameters(FlatParameters& shared, std::int64_t users, Weights weights,
                               std::int64_t first)
    : shared_(shared),
      first_(first),
      gradients_(torch::zeros({users, shared.size() - first}, shared.values().options())) {
  if (weights == Weights::own) values_ = shared.values().slice(0, first).unsqueeze(0).repeat({users, 1});
}

Tensor UserParameters::view(const Tensor& table, const Tensor& parameter) const {
  const Tensor whole = shared_.values();
  TORCH_CHECK(parameter.is_contiguous() && parameter.storage().data() == whole.storage().data() &&
                  parameter.storage_offset() >= first_,
              "not a parameter that users train");
  auto shape = parameter.sizes().vec();
  shape.insert(shape.begin(), users());
  return table.narrow(1, parameter.storage_offset() - first_, parameter.numel()).view(shape);
}

Tensor UserParameters::gradients_of(const Tensor& parameter) const { return view(gradients_, parameter); }

Tensor UserParameters::values_of(const Tensor& parameter) const { return view(values_, parameter); }

Tensor UserParameters::gradient(std::int64_t user, const Tensor& parameter) const {
  return gradients_of(parameter).select(0, user);
}

Tensor UserParameters::value(std::int64_t user, const Tensor& parameter) const {
  return values_of(parameter).select(0, user);
}

Owners owners_of_parts(const Owners& owners, const std::vector<std::int64_t>& parts) {
  if (!owners) return {};
  std::vector<std::int64_t> offsets;
  offsets.reserve(owners->offsets.size());
  for (const std::int64_t row : owners->offsets) offsets.push_back(parts.at(static_cast<std::size_t>(row)));
  return c10::make_intrusive<RowOwners>(*owners->parameters, std::move(offsets));
}

}  // namespace sotto::model
