#include "model/bert_text_encoder.h"

#include <algorithm>

#include "model/recompute.h"

namespace sotto {

using torch::Tensor;

std::int64_t activation_bytes(const BertConfig& config, std::int64_t length) {
  // qkv, mixed, both sums and what their norms make of them; up and its GELU; the weights of attention.
  const std::int64_t numbers = 8 * config.hidden + 2 * config.intermediate + config.heads * length;
  return numbers * static_cast<std::int64_t>(sizeof(float));
}

std::vector<std::int64_t> chunks_of(const Segments& segments, std::int64_t rows) {
  std::vector<std::int64_t> boundaries = {0};
  const auto& offsets = segments.offsets();
  std::int64_t first_row = 0;
  for (std::int64_t n = 0; n < segments.count(); ++n) {
    if (offsets[static_cast<std::size_t>(n) + 1] - first_row <= rows || n == boundaries.back()) continue;
    boundaries.push_back(n);
    first_row = offsets[static_cast<std::size_t>(n)];
  }
  boundaries.push_back(segments.count());
  return boundaries;
}

namespace {

Segments part_of(const Segments& segments, std::int64_t first, std::int64_t last) {
  if (first == 0 && last == segments.count()) return segments;
  const auto begin = segments.offsets().begin() + first;
  std::vector<std::int64_t> offsets(begin, begin + (last - first) + 1);
  const std::int64_t start = offsets.front();
  for (std::int64_t& offset : offsets) offset -= start;
  return Segments(std::move(offsets));
}

}  // namespace

BertTextEncoder::BertTextEncoder(std::shared_ptr<BertModel> bert, std::int64_t pooling_size,
                                 std::int64_t memory)
    : bert_(register_module("bert", std::move(bert))),
      pooling_(register_module("pooling",
                               std::make_shared<AdditivePooling>(bert_->config().hidden, pooling_size))),
      memory_(memory) {}

std::vector<Tensor> BertTextEncoder::trained_behind_embeddings() const {
  std::vector<Tensor> trained;
  const auto add = [&](const torch::nn::Module& module) {
    for (const Tensor& parameter : module.parameters())
      if (parameter.requires_grad()) trained.push_back(parameter);
  };
  for (const auto& layer : bert_->layers) add(*layer);
  add(*pooling_);
  return trained;
}

Tensor BertTextEncoder::forward(const std::vector<std::int64_t>& pieces, const Segments& texts) {
  const std::int64_t layers = bert_->config().layers, first_trained = bert_->first_trained_layer();
  const bool learns = torch::GradMode::is_enabled();
  Tensor embedded;
  {
    const torch::AutoGradMode graph(learns && bert_->words.requires_grad());
    embedded = bert_->embed(pieces, texts);
  }
  // Without a backward pass, and below the first trained layer, only the layer at work takes memory.
  const std::int64_t kept = learns ? std::max<std::int64_t>(layers - first_trained, 1) : 1;
  const std::int64_t rows = memory_ / (kept * activation_bytes(bert_->config(), texts.longest()));
  const auto boundaries =
      texts.owners() ? std::vector<std::int64_t>{0, texts.count()} : chunks_of(texts, rows);
  const bool again = learns && boundaries.size() > 2;
  std::vector<Tensor> vectors;
  for (std::size_t c = 0; c + 1 < boundaries.size(); ++c) {
    const Segments own = part_of(texts, boundaries[c], boundaries[c + 1]);
    Tensor states = embedded.narrow(0, texts.offsets()[static_cast<std::size_t>(boundaries[c])], own.rows());
    if (first_trained > 0) {
      const torch::NoGradGuard no_grad;
      states = bert_->encode(std::move(states), own, 0, first_trained);
    }
    const auto part = [bert = bert_, pooling = pooling_, own, first_trained, layers](const Tensor& x) {
      return pooling->forward(bert->encode(x, own, first_trained, layers), own);
    };
    vectors.push_back(again ? recomputed(part, states, trained_behind_embeddings()) : part(states));
  }
  return torch::cat(vectors);
}

}  // namespace sotto
