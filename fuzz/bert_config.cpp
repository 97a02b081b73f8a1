// Any bytes as a downloaded config.json of BERT, or as the parts of it that learn: an error, or a shape that
// can be allocated.

#include "model/bert/bert_config.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sotto::model;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto config = parse_bert_config(bytes)) {
    const bool sound = config->vocabulary > 0 && config->hidden > 0 && config->layers > 0 &&
                       config->heads > 0 && config->hidden % config->heads == 0 && config->layer_norm_eps > 0;
    if (!sound) std::abort();
  }
  static_cast<void>(bert_of_size(bytes));
  if (const auto parts = parse_trainable_parts(bytes, 12))
    for (std::size_t i = 0; i < parts->layers.size(); ++i)
      if (parts->layers[i] < 0 || parts->layers[i] >= 12 ||
          (i > 0 && parts->layers[i] <= parts->layers[i - 1]))
        std::abort();
  return 0;
}
