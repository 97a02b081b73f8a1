#pragma once
// Texts to vectors: BERT, then additive pooling of its last states. Bounded memory: frozen layers keep
// nothing for the backward pass, and what the trained ones would keep beyond the bound is computed again,
// some texts at a time.
//
// Letters: W pieces, N texts, D hidden size.

#include <memory>
#include <vector>

#include "model/bert_model.h"
#include "model/layers.h"

namespace sotto {

// Shares the encoder it is given; not thread-safe.
class BertTextEncoder : public torch::nn::Module {
 public:
  // memory: bytes that the activations of trained layers may take.
  BertTextEncoder(std::shared_ptr<BertModel> bert, std::int64_t pooling_size, std::int64_t memory);

  // [N, D]; a text without pieces gives zeros. Result and gradients do not depend on `memory`. Where users
  // are told apart the caller bounds the batch instead.
  torch::Tensor forward(const std::vector<std::int64_t>& pieces, const Segments& texts);

  const BertConfig& config() const { return bert_->config(); }

 private:
  std::vector<torch::Tensor> trained_behind_embeddings() const;

  std::shared_ptr<BertModel> bert_;
  std::shared_ptr<AdditivePooling> pooling_;
  std::int64_t memory_;
};

// Bytes that one layer keeps for its backward pass, per piece of a text of `length` pieces.
std::int64_t activation_bytes(const BertConfig& config, std::int64_t length);

// Neighbouring segments of about `rows` rows together, at least one each: boundaries as numbers of segments.
std::vector<std::int64_t> chunks_of(const Segments& segments, std::int64_t rows);

}  // namespace sotto
