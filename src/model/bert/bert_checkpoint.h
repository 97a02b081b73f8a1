#pragma once
// Pre-trained BERT from a folder as downloaded: config.json, model.safetensors, vocab.txt (and
// tokenizer_config.json, which tells the casing).

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/bert/bert_model.h"
#include "text/safetensors.h"
#include "text/wordpiece.h"

namespace sotto::model {

struct BertCheckpoint {
  std::shared_ptr<BertModel> model;
  text::WordPiece tokenizer;
};

// Refuses a folder whose files do not belong together.
Result<BertCheckpoint> load_bert(const fs::path& folder);

// A line that differs for folders with other weights, another vocabulary or another configuration.
Result<std::string> bert_fingerprint(const fs::path& folder);

// Fills a model from tensors named as Hugging Face names them, with "bert." in front or without; LayerNorm's
// weight and bias may be called gamma and beta. Types: F32, F16, BF16. Strict: a tensor that is missing, of
// another shape or type, not finite, or that has no place in the encoder is an error. Ignored by name are the
// parts an encoder does not use: the pooler, cls.* and embeddings.position_ids. Nothing is allocated before
// all names, shapes and types are found right.
Result<std::shared_ptr<BertModel>> bert_from_tensors(const BertConfig& config,
                                                     const text::TensorViews& tensors);

// The names (without "bert.") and views of the model's weights that take those tensors: the other direction,
// for writing checkpoints. The views share the model's memory.
std::vector<std::pair<std::string, torch::Tensor>> bert_tensors(BertModel& model);

}  // namespace sotto::model
