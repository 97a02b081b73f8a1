#pragma once
// Whoever makes the next version of a model of a round's sums: the trainer, in a process of its own because
// it needs libtorch. It asks and is answered; what it must know to go on is handed back with every version,
// so that it can be ended at any time.

#include <string>
#include <vector>

#include "coordinator/store/records.h"
#include "rounds/model_version.h"

namespace sotto::coordinator {

// What is the same for all rounds.
struct FoldedModel {
  std::string layout;
  rounds::ItemTable items;
};

// A version that is finished, and, unless it is the last, the question for the sums of the round on it.
struct FoldedRound {
  std::uint64_t rounds_done = 0;
  double bound = 1;            // of the next round
  rounds::NumberRows numbers;  // of the version
  rounds::NumberRows items;    // vectors of items that change with the version
  std::string checkpoint;      // what the trainer needs beside to go on; none before the first round
  bool is_last = false;
};

// One caller at a time, but for let_go().
class Folding {
 public:
  virtual ~Folding() = default;
  // From the beginning, or from what a version was stored with.
  virtual Result<FoldedModel> begin(const std::string& checkpoint) = 0;
  virtual Result<FoldedRound> next() = 0;
  virtual Status give(const std::vector<GroupSum>& sums) = 0;
  // From any thread: whoever waits for an answer, now or later, hears that there will be none.
  virtual void let_go() {}
};

}  // namespace sotto::coordinator
