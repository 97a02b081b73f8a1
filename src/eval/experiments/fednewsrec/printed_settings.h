#pragma once

#include "eval/experiments/news_settings.h"

namespace sotto {

// FedNewsRec's rounds as printed: 2 % of those who train, which is half of the users; element-wise clipping
// and Laplace noise, one step of SGD.
inline Settings printed_fednewsrec(const GridContext& context) {
  return {"mode=paper", cohort_of(context, 0.01), "learning_rate=0.5", "element_clip=0.005", "laplace=0.015"};
}

}  // namespace sotto
