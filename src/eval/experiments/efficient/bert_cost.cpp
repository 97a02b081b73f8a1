#include "eval/experiments/efficient/bert_cost.h"

#include <chrono>

#include "model/bert/bert_model.h"

namespace sotto {

std::int64_t bert_parameters(const BertConfig& config) {
  const std::int64_t d = config.hidden, norm = 2 * d;
  const std::int64_t attention = 4 * (d * d + d) + norm,
                     feed_forward = 2 * d * config.intermediate + config.intermediate + d + norm;
  return (config.vocabulary + config.positions + config.token_types) * d + norm +
         config.layers * (attention + feed_forward);
}

std::int64_t user_model_parameters() {
  constexpr std::int64_t size = 400, pooling = 200;
  constexpr std::int64_t attention = 3 * size * size, query = size * pooling + pooling + pooling;
  return attention + query;
}

double bert_pass_seconds(const BertConfig& config, std::int64_t titles, std::int64_t pieces) {
  BertModel bert(config);
  bert.random_start();
  std::vector<std::int64_t> words, offsets = {0};
  for (std::int64_t title = 0; title < titles; ++title) {
    for (std::int64_t i = 0; i < pieces; ++i) words.push_back((title * pieces + i) % config.vocabulary);
    offsets.push_back(static_cast<std::int64_t>(words.size()));
  }
  const Segments texts(std::move(offsets));
  const auto start = std::chrono::steady_clock::now();
  bert.forward(words, texts).sum().backward();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace sotto
