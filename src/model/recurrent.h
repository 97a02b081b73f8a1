#pragma once
// Recurrent layers over ragged rows: all segments advance together, the longest first, so that those still
// running are always a prefix and nothing is padded.
//
// Letters: W rows, N segments.

#include "model/layers.h"

namespace sotto {

// Gated recurrent unit of Cho et al. 2014 (reset before the product, one bias). Reads the last `most` rows of
// every segment, oldest first; returns the last state. [W, in] -> [N, size].
class RecentGru : public torch::nn::Module {
 public:
  RecentGru(std::int64_t in, std::int64_t size, std::int64_t most, Start start = Start::glorot);
  // initial: [N, size], zeros when undefined; it is the state of an empty segment.
  torch::Tensor forward(const torch::Tensor& rows, const Segments& segments,
                        const torch::Tensor& initial = {});

 private:
  std::int64_t size_, most_;
  torch::Tensor input_, gates_, candidate_, bias_;  // [in, 3 size], [size, 2 size], [size, size], [3 size]
};

// Long short-term memory with the usual gates (input, forget, output; the forget gate's bias starts at 1).
// Returns the state after every row: [W, in] -> [W, size].
class Lstm : public torch::nn::Module {
 public:
  Lstm(std::int64_t in, std::int64_t size);
  torch::Tensor forward(const torch::Tensor& rows, const Segments& segments);

 private:
  std::int64_t size_;
  torch::Tensor input_, state_, bias_;  // [in, 4 size], [size, 4 size], [4 size]: input, forget, output, cell
};

}  // namespace sotto
