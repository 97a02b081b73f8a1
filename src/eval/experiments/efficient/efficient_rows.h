#pragma once

#include "eval/experiments/news_settings.h"

namespace sotto {

// Efficient-FedRec's rounds: groups of 50, secure sums without noise. Numbers travel uncompressed, as the
// paper counts them, unless `compress`.
inline Settings efficient_settings(const GridContext& context, bool compress) {
  return {"mode=paper", "group=50", fmt::format("compress={}", compress),
          context.quick ? "learning_rate=0.01" : "learning_rate=0.001",
          context.quick ? "news_learning_rate=0.01" : "news_learning_rate=0.001"};
}

// With BERT on the server: the paper's small step for a pre-trained model.
inline Settings efficient_bert_settings(const GridContext& context) {
  return bert_settings(context) + Settings{"model=plm-nr", context.option("bert").empty()
                                                               ? "news_learning_rate=0.0003"
                                                               : "news_learning_rate=0.00005"};
}

}  // namespace sotto
