#include "model/bert/bert_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/binary_file.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "model/bert/bert_config.h"

namespace sotto::model {

namespace {

// How Hugging Face names the weights of BERT: names and shapes known from the configuration alone.

struct BertTensorPlace {
  std::string name;                  // without "bert."
  std::vector<std::uint64_t> shape;  // as stored: matrices are [out, in]
};

// All weights of the encoder, embeddings first, then layer after layer.
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

// The names (without "bert.") of parts that an encoder does not use.
bool is_beside_the_encoder(std::string_view name) {
  return name.starts_with("cls.") || name == "pooler.dense.weight" || name == "pooler.dense.bias" ||
         name == "embeddings.position_ids";
}

// Checkpoints converted from TensorFlow call LayerNorm's weight gamma and its bias beta.
std::string converted_name(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> endings[] = {
      {"LayerNorm.weight", "LayerNorm.gamma"}, {"LayerNorm.bias", "LayerNorm.beta"}};
  for (const auto& [usual, converted] : endings)
    if (name.ends_with(usual))
      return std::string(name.substr(0, name.size() - usual.size())).append(converted);
  return std::string(name);
}

}  // namespace

using torch::Tensor;

namespace {

constexpr std::string_view prefix = "bert.";
constexpr std::size_t most_named = 5;  // in a message
// Checkpoints may fill their table of words up to a round number.
constexpr std::int64_t most_unused_words = 127;

std::optional<torch::ScalarType> type_of(text::TensorType type) {
  switch (type) {
    case text::TensorType::f32:
      return torch::kFloat32;
    case text::TensorType::f16:
      return torch::kFloat16;
    case text::TensorType::bf16:
      return torch::kBFloat16;
    default:
      return std::nullopt;
  }
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i)
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
  if (names.size() > most_named) text += fmt::format(" and {} more", names.size() - most_named);
  return text;
}

// The tensors of the file that fill the places, in their order.
Result<std::vector<text::TensorViews::const_iterator>> match(const std::vector<BertTensorPlace>& places,
                                                             const text::TensorViews& tensors) {
  const bool prefixed = tensors.contains("bert.embeddings.word_embeddings.weight");
  std::vector<text::TensorViews::const_iterator> matched;
  std::set<std::string_view> used;
  std::vector<std::string> missing, extra;
  for (const auto& [plain, shape] : places) {
    const std::string name = (prefixed ? std::string(prefix) : std::string()) + plain;
    auto found = tensors.find(name);
    if (found == tensors.end()) found = tensors.find(converted_name(name));
    if (found == tensors.end()) {
      missing.push_back(name);
      continue;
    }
    if (found->second.shape != shape)
      return bad_input("tensor '{}' is {}; config.json asks for {}", found->first,
                       text::shape_text(found->second.shape), text::shape_text(shape));
    if (!type_of(found->second.type))
      return bad_input("tensor '{}' is {}; weights are F32, F16 or BF16", found->first,
                       text::name_of(found->second.type));
    used.insert(found->first);
    matched.push_back(found);
  }
  if (!missing.empty())
    return bad_input("{} missing: this is not the encoder that config.json describes", listed(missing));
  for (const auto& [name, view] : tensors) {
    std::string_view plain = name;
    if (plain.starts_with(prefix)) plain.remove_prefix(prefix.size());
    if (!used.contains(name) && !is_beside_the_encoder(plain)) extra.push_back(name);
  }
  if (!extra.empty()) return bad_input("{} has no place in this BERT: another model's file?", listed(extra));
  return matched;
}

Status copy_into(const std::string& name, const text::TensorView& view, Tensor target) {
  const Tensor stored = torch::empty(target.sizes(), *type_of(view.type));
  std::memcpy(stored.data_ptr(), view.bytes.data(), view.bytes.size());
  target.copy_(stored);
  if (!target.isfinite().all().item<bool>())
    return bad_input("tensor '{}' holds numbers that are not finite: the file is damaged", name);
  return {};
}

}  // namespace

std::vector<std::pair<std::string, Tensor>> bert_tensors(BertModel& model) {
  std::vector<Tensor> tensors = {model.words, model.positions, model.token_types};
  const auto add = [&](const auto& part) {
    // Checkpoints store matrices as [out, in].
    tensors.push_back(part.weight.dim() == 2 ? part.weight.t() : part.weight);
    tensors.push_back(part.bias);
  };
  add(*model.embedding_norm);
  const std::int64_t size = model.config().hidden;
  for (const auto& layer : model.layers) {
    for (std::int64_t part = 0; part < 3; ++part)
      for (const Tensor& both : {layer->qkv->weight.t(), layer->qkv->bias})
        tensors.push_back(both.narrow(0, part * size, size));
    add(*layer->out);
    add(*layer->attention_norm);
    add(*layer->up);
    add(*layer->down);
    add(*layer->output_norm);
  }
  const auto places = bert_tensor_places(model.config());
  TORCH_CHECK(places.size() == tensors.size(), "names and weights of BERT must agree");
  std::vector<std::pair<std::string, Tensor>> named;
  for (std::size_t i = 0; i < places.size(); ++i) named.emplace_back(places[i].name, tensors[i].detach());
  return named;
}

Result<std::shared_ptr<BertModel>> bert_from_tensors(const BertConfig& config,
                                                     const text::TensorViews& tensors) {
  SOTTO_TRY(const auto matched, match(bert_tensor_places(config), tensors));
  auto model = std::make_shared<BertModel>(config);
  const auto targets = bert_tensors(*model);
  std::uint64_t bytes = 0;
  for (const auto& tensor : matched) bytes += tensor->second.bytes.size();
  // Large ones are gigabytes, which the disk brings while they are copied.
  Progress progress("loading BERT", bytes, "B");
  progress.set(0);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (interrupted()) return failed("stopped while BERT was loaded");
    SOTTO_CHECK(copy_into(matched[i]->first, matched[i]->second, targets[i].second));
    progress.advance(matched[i]->second.bytes.size());
  }
  return model;
}

Result<BertCheckpoint> load_bert(const fs::path& folder) {
  SOTTO_TRY(const auto config, load_bert_config(folder / "config.json"));
  SOTTO_TRY(auto tokenizer, text::WordPiece::load_folder(folder));
  const auto pieces = static_cast<std::int64_t>(tokenizer.size());
  if (pieces > config.vocabulary || pieces + most_unused_words < config.vocabulary)
    return bad_input("{} has {} pieces, config.json {}: they do not belong together",
                     (folder / "vocab.txt").string(), pieces, config.vocabulary);
  const fs::path weights = folder / "model.safetensors";
  SOTTO_TRY(const auto file, text::SafetensorsFile::open(weights));
  auto model = bert_from_tensors(config, file.tensors());
  if (!model) return tl::unexpected(std::move(model).error().in(weights.string()));
  return BertCheckpoint{std::move(*model), std::move(tokenizer)};
}

Result<std::string> bert_fingerprint(const fs::path& folder) {
  std::string line;
  for (const char* name : {"config.json", "vocab.txt", "model.safetensors"}) {
    SOTTO_TRY(const auto file, MappedFile::open(folder / name));
    line += fmt::format("{:016x} ", binary_format::checksum(file.bytes()));
  }
  line.back() = '\n';
  return line;
}

}  // namespace sotto::model
