#pragma once
// The news models that devices train as a whole, titles included: FedNewsRec's
// (model/news/fednewsrec_model.h) and NRMS (model/news/nrms_model.cpp). Names and order of their weights are
// the server's.

#include <memory>
#include <string>

#include "base/settings.h"
#include "local/ranking_model.h"

namespace sotto::local {

// As model::NewsShape has them.
struct NewsSizes {
  std::int64_t word_size = 300, heads = 20, head_size = 20, pooling_size = 200, recent_clicks = 20;
  double dropout = 0.2;
  bool train_words = false;
  std::int64_t vocabulary = 0;  // of words that are trained

  void bind(SettingsTable& table, bool recurrent);
  Status check() const;
  Index vector_size() const { return heads * head_size; }
};

std::unique_ptr<RankingModel> make_fednewsrec_model(const NewsSizes& sizes);
// prefix: of all names, where the model is a part of another.
std::unique_ptr<RankingModel> make_nrms_model(const NewsSizes& sizes, const std::string& prefix = "");

}  // namespace sotto::local
