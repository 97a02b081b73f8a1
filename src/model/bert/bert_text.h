#pragma once
// Where a run's BERT comes from: a checkpoint folder with its own WordPiece vocabulary, or a published size
// with random weights, which reads the words of the run's own vocabulary.

#include <memory>
#include <string>
#include <vector>

#include "base/settings.h"
#include "model/bert/bert_model.h"
#include "model/layers/layers.h"
#include "model/news/news_shape.h"
#include "text/wordpiece.h"

namespace sotto::model {

struct BertSettings {
  std::string folder, size = "tiny", trainable_layers = "auto";
  std::int64_t max_pieces = 30;
  void bind(SettingsTable& table);
  bool pretrained() const { return !folder.empty(); }
};

// The checkpoint, and the titles as its pieces.
struct PretrainedBert {
  std::shared_ptr<BertModel> model;
  ItemText titles;
  text::WordPiece tokenizer;
};
Result<PretrainedBert> open_pretrained_bert(const BertSettings& settings, const data::StringColumn& titles);

// Random weights for a vocabulary of `words`, texts of at most `max_words`.
Result<std::shared_ptr<BertModel>> make_random_bert(const BertSettings& settings, std::int64_t words,
                                                    std::int64_t max_words);

// Texts as pieces between [CLS] and [SEP], at most `max_pieces` in all; a text without any word has no
// pieces, not even the markers. Runs on the thread pool; the result does not depend on the number of threads.
ItemText wordpiece_text(const data::StringColumn& texts, const text::WordPiece& tokenizer,
                        std::size_t max_pieces);

// Texts to vectors: BERT, then additive pooling of its last states. Bounded memory: frozen layers keep
// nothing for the backward pass, and what the trained ones would keep beyond the bound is computed again,
// some texts at a time.
//
// Letters: W pieces, N texts, D hidden size.

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

}  // namespace sotto::model
