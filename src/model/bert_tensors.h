#pragma once
// How Hugging Face names the weights of BERT: names and shapes known from the configuration alone.

#include <cstdint>
#include <string>
#include <vector>

#include "model/bert_config.h"

namespace sotto {

struct BertTensorPlace {
  std::string name;                  // without "bert."
  std::vector<std::uint64_t> shape;  // as stored: matrices are [out, in]
};

// All weights of the encoder, embeddings first, then layer after layer.
std::vector<BertTensorPlace> bert_tensor_places(const BertConfig& config);

// The names (without "bert.") of parts that an encoder does not use.
bool is_beside_the_encoder(std::string_view name);

// Checkpoints converted from TensorFlow call LayerNorm's weight gamma and its bias beta.
std::string converted_name(std::string_view name);

}  // namespace sotto
