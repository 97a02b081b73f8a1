#include "model/bert_tensors.h"

#include <fmt/format.h>

#include <utility>

namespace sotto {

std::vector<BertTensorPlace> bert_tensor_places(const BertConfig& config) {
  const auto size = [](std::int64_t extent) { return static_cast<std::uint64_t>(extent); };
  const std::uint64_t d = size(config.hidden), f = size(config.intermediate);
  std::vector<BertTensorPlace> places = {
      {"embeddings.word_embeddings.weight", {size(config.vocabulary), d}},
      {"embeddings.position_embeddings.weight", {size(config.positions), d}},
      {"embeddings.token_type_embeddings.weight", {size(config.token_types), d}},
  };
  const auto norm = [&](const std::string& name) {
    places.push_back({name + ".weight", {d}});
    places.push_back({name + ".bias", {d}});
  };
  const auto linear = [&](const std::string& name, std::uint64_t in, std::uint64_t out) {
    places.push_back({name + ".weight", {out, in}});
    places.push_back({name + ".bias", {out}});
  };
  norm("embeddings.LayerNorm");
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::string layer = fmt::format("encoder.layer.{}.", i);
    for (const char* part : {"query", "key", "value"}) linear(layer + "attention.self." + part, d, d);
    linear(layer + "attention.output.dense", d, d);
    norm(layer + "attention.output.LayerNorm");
    linear(layer + "intermediate.dense", d, f);
    linear(layer + "output.dense", f, d);
    norm(layer + "output.LayerNorm");
  }
  return places;
}

bool is_beside_the_encoder(std::string_view name) {
  return name.starts_with("cls.") || name == "pooler.dense.weight" || name == "pooler.dense.bias" ||
         name == "embeddings.position_ids";
}

std::string converted_name(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> endings[] = {
      {"LayerNorm.weight", "LayerNorm.gamma"}, {"LayerNorm.bias", "LayerNorm.beta"}};
  for (const auto& [usual, converted] : endings)
    if (name.ends_with(usual))
      return std::string(name.substr(0, name.size() - usual.size())).append(converted);
  return std::string(name);
}

}  // namespace sotto
