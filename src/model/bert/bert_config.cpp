#include "model/bert/bert_config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

namespace sotto::model {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t max_config_bytes = std::uint64_t{1} << 20;

Status read_size(const Json& config, const char* key, std::int64_t most, std::int64_t& out) {
  const auto found = config.find(key);
  if (found == config.end())
    return bad_input("'{}' is missing: is this the config.json of a BERT model?", key);
  // Above the signed range a number reads as unsigned, so compare before converting.
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() < 1 ||
      found->get<std::uint64_t>() > static_cast<std::uint64_t>(most)) {
    return bad_input("'{}' must be a whole number from 1 to {}", key, most);
  }
  out = found->get<std::int64_t>();
  return {};
}

Status expect_text(const Json& config, const char* key, std::string_view expected) {
  const auto found = config.find(key);
  if (found == config.end() || (found->is_string() && found->get_ref<const std::string&>() == expected))
    return {};
  return bad_input("'{}' must be \"{}\": no other kind is supported", key, expected);
}

Status read_activation(const Json& config, Gelu& out) {
  const auto found = config.find("hidden_act");
  const std::string name = found != config.end() && found->is_string() ? found->get<std::string>() : "";
  if (name == "gelu") {
    out = Gelu::exact;
  } else if (name == "gelu_new" || name == "gelu_pytorch_tanh") {
    out = Gelu::tanh;
  } else {
    return bad_input("'hidden_act' must be \"gelu\", \"gelu_new\" or \"gelu_pytorch_tanh\"");
  }
  return {};
}

struct PublishedSize {
  std::int64_t layers, hidden;
};
// In the order of bert_sizes; a head has 64 columns, the inner layer four times the hidden size.
constexpr PublishedSize published[] = {{2, 128}, {4, 256}, {4, 512}, {8, 512}, {12, 768}, {24, 1024}};
static_assert(std::size(published) == std::size(bert_sizes));

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Result<BertConfig> bert_of_size(std::string_view size) {
  for (std::size_t i = 0; i < std::size(bert_sizes); ++i) {
    if (bert_sizes[i] != size) continue;
    BertConfig config;
    config.layers = published[i].layers;
    config.hidden = published[i].hidden;
    config.heads = config.hidden / 64;
    config.intermediate = 4 * config.hidden;
    return config;
  }
  return bad_input("unknown size of BERT '{}': tiny, mini, small, medium, base or large", size);
}

Result<BertConfig> parse_bert_config(std::string_view json) {
  const Json config = Json::parse(json.begin(), json.end(), nullptr, false);
  if (!config.is_object()) return bad_input("not a JSON object");
  SOTTO_CHECK(expect_text(config, "model_type", "bert"));
  SOTTO_CHECK(expect_text(config, "position_embedding_type", "absolute"));
  BertConfig out;
  SOTTO_CHECK(read_size(config, "vocab_size", 10'000'000, out.vocabulary));
  SOTTO_CHECK(read_size(config, "hidden_size", 16'384, out.hidden));
  SOTTO_CHECK(read_size(config, "num_hidden_layers", 256, out.layers));
  SOTTO_CHECK(read_size(config, "num_attention_heads", 1024, out.heads));
  SOTTO_CHECK(read_size(config, "intermediate_size", 131'072, out.intermediate));
  SOTTO_CHECK(read_size(config, "max_position_embeddings", 1'000'000, out.positions));
  SOTTO_CHECK(read_size(config, "type_vocab_size", 1024, out.token_types));
  SOTTO_CHECK(read_activation(config, out.activation));
  if (const auto eps = config.find("layer_norm_eps"); eps != config.end()) {
    if (!eps->is_number() || !(eps->get<double>() > 0 && eps->get<double>() < 1))
      return bad_input("'layer_norm_eps' must lie between 0 and 1");
    out.layer_norm_eps = eps->get<double>();
  }
  if (out.hidden % out.heads != 0)
    return bad_input("'hidden_size' {} does not divide into {} heads", out.hidden, out.heads);
  return out;
}

Result<BertConfig> load_bert_config(const fs::path& path) {
  SOTTO_TRY(const std::string text, read_file(path, max_config_bytes));
  auto config = parse_bert_config(text);
  if (!config) return tl::unexpected(std::move(config).error().in(path.string()));
  return config;
}

Result<TrainableParts> parse_trainable_parts(std::string_view text, std::int64_t layers) {
  TrainableParts parts;
  const auto add_from = [&](std::int64_t first) {
    for (std::int64_t layer = first; layer < layers; ++layer) parts.layers.push_back(layer);
  };
  text = trimmed(text);
  if (text == "none") return parts;
  if (text == "all") {
    parts.embeddings = true;
    add_from(0);
    return parts;
  }
  if (text.starts_with("last ")) {
    const auto count = whole_number(trimmed(text.substr(5)));
    if (!count || *count < 1 || *count > layers)
      return bad_input("trainable layers '{}': 'last N' needs N from 1 to {}", text, layers);
    add_from(layers - *count);
    return parts;
  }
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view name = trimmed(text.substr(0, comma));
    const auto layer = whole_number(name);
    if (name == "embeddings") {
      parts.embeddings = true;
    } else if (layer && *layer >= 0 && *layer < layers) {
      parts.layers.push_back(*layer);
    } else {
      return bad_input(
          "trainable layers: '{}' is no layer from 0 to {}; write 'none', 'all', 'last N' or a list such as "
          "'embeddings,0,1'",
          name, layers - 1);
    }
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  std::sort(parts.layers.begin(), parts.layers.end());
  parts.layers.erase(std::unique(parts.layers.begin(), parts.layers.end()), parts.layers.end());
  return parts;
}

}  // namespace sotto::model
