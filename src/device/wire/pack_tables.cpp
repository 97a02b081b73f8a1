#include "device/wire/pack_tables.h"

#include <algorithm>

namespace sotto::device::pack_tables {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

Offset<wire::Tensor> write(FlatBufferBuilder& builder, const PackTensor& tensor) {
  const auto name = builder.CreateString(tensor.name);
  const auto shape = builder.CreateVector(tensor.shape);
  const auto data = builder.CreateVector(tensor.data);
  const auto scales = tensor.scales.empty() ? 0 : builder.CreateVector(tensor.scales);
  return wire::CreateTensor(builder, name, shape, static_cast<wire::NumberForm>(tensor.form), data, scales);
}

Offset<wire::ItemTable> write(FlatBufferBuilder& builder, const PackItems& items) {
  const auto ids = builder.CreateVectorOfStrings(items.ids);
  const auto vectors = write(builder, items.vectors);
  const auto published = builder.CreateVector(items.published);
  const auto categories = builder.CreateVector(items.categories);
  const bool any = std::any_of(items.languages.begin(), items.languages.end(),
                               [](std::uint16_t language) { return language != no_language; });
  const auto languages = any ? builder.CreateVector(items.languages) : 0;
  return wire::CreateItemTable(builder, ids, vectors, published, categories, languages);
}

Offset<wire::UserModel> write(FlatBufferBuilder& builder, const PackUserModel& model) {
  const auto kind = builder.CreateString(model.kind);
  std::vector<Offset<wire::Tensor>> weights;
  for (const PackTensor& tensor : model.weights) weights.push_back(write(builder, tensor));
  const auto all = builder.CreateVector(weights);
  return wire::CreateUserModel(builder, kind, model.heads, model.recent_clicks, model.max_history, all);
}

Result<PackTensor> read(const wire::Tensor& table) {
  if (table.shape()->size() > 3)
    return bad_input("the pack has a tensor of {} dimensions", table.shape()->size());
  if (table.form() > wire::NumberForm::MAX) return bad_input("the pack has a tensor of unknown form");
  PackTensor tensor{table.name()->str(),
                    read(*table.shape()),
                    static_cast<NumberForm>(table.form()),
                    read(*table.data()),
                    {}};
  if (table.scales() != nullptr) tensor.scales = read(*table.scales());
  return tensor;
}

Result<PackItems> read(const wire::ItemTable& table) {
  if (table.ids()->size() > PackLimits::items)
    return bad_input("the pack has more than {} items", PackLimits::items);
  PackItems items;
  SOTTO_TRY(items.vectors, read(*table.vectors()));
  items.ids = read(*table.ids());
  items.published = read(*table.published());
  items.categories = read(*table.categories());
  if (table.languages() == nullptr)
    items.languages.assign(items.size(), no_language);
  else
    items.languages = read(*table.languages());
  return items;
}

Result<PackUserModel> read(const wire::UserModel& table) {
  if (table.weights()->size() > PackLimits::tensors)
    return bad_input("the pack's user model has too many weights");
  PackUserModel model{table.kind()->str(), table.heads(), table.recent_clicks(), table.max_history(), {}};
  for (const wire::Tensor* weights : *table.weights()) {
    SOTTO_TRY(auto tensor, read(*weights));
    model.weights.push_back(std::move(tensor));
  }
  return model;
}

std::vector<std::string> read(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>& strings) {
  std::vector<std::string> copied;
  copied.reserve(strings.size());
  for (const flatbuffers::String* text : strings) copied.push_back(text->str());
  return copied;
}

}  // namespace sotto::device::pack_tables
