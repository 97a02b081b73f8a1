#pragma once
// The shape of a BERT checkpoint: config.json as downloaded. No torch here.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace sotto::model {

enum class Gelu : std::uint8_t {
  exact,  // x Phi(x), "gelu"
  tanh,   // its approximation by tanh, "gelu_new" and "gelu_pytorch_tanh"
};

struct BertConfig {
  std::int64_t vocabulary = 30522, hidden = 768, layers = 12, heads = 12, intermediate = 3072,
               positions = 512, token_types = 2;
  double layer_norm_eps = 1e-12;
  Gelu activation = Gelu::exact;
};

// The published sizes: tiny, mini, small, medium, base, large. `positions` and `vocabulary` are base's.
inline constexpr std::string_view bert_sizes[] = {"tiny", "mini", "small", "medium", "base", "large"};
Result<BertConfig> bert_of_size(std::string_view size);

// Keys of other models and of training are ignored; a missing key, a value out of range, another kind of
// model or of positions, or an activation other than GELU is an error that names it.
Result<BertConfig> parse_bert_config(std::string_view json);
Result<BertConfig> load_bert_config(const fs::path& path);

// Which parts of the model learn; the rest stays as loaded.
struct TrainableParts {
  bool embeddings = false;
  std::vector<std::int64_t> layers;  // from 0, increasing
};

// "none", "all" (embeddings too), "last N", or a list of layers such as "10,11" with "embeddings" among them.
Result<TrainableParts> parse_trainable_parts(std::string_view text, std::int64_t layers);

}  // namespace sotto::model
