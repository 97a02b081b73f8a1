#include "local/models/layers.h"

#include <algorithm>
#include <numeric>

#include "local/tape/arithmetic.h"

namespace sotto::local {

SelfAttention::SelfAttention(Parts& parts, const std::string& name, Index in, Index heads, Index head_size)
    : first_(parts.size()), heads_(heads) {
  parts.push_back({name + ".weight", in, 3 * heads * head_size});
}

Value<float> SelfAttention::forward(const Pass& pass, const Value<float>& rows,
                                    const Offsets& offsets) const {
  return ragged_attention(product(rows, pass.parameters[first_]), offsets, heads_);
}

AdditivePooling::AdditivePooling(Parts& parts, const std::string& name, Index in, Index hidden)
    : first_(parts.size()) {
  parts.push_back({name + ".weight", in, hidden});
  parts.push_back({name + ".bias", 1, hidden});
  parts.push_back({name + ".query", 1, hidden});
}

Value<float> AdditivePooling::forward(const Pass& pass, const Value<float>& rows,
                                      const Offsets& offsets) const {
  const Value<float>&weight = pass.parameters[first_], &bias = pass.parameters[first_ + 1],
        &query = pass.parameters[first_ + 2];
  return ragged_pool(product_transposed(tanh(product(rows, weight) + bias), query), rows, offsets);
}

WordConvolution::WordConvolution(Parts& parts, const std::string& name, Index in, Index out)
    : first_(parts.size()) {
  parts.push_back({name + ".weight", 3 * in, out});
  parts.push_back({name + ".bias", 1, out});
}

Value<float> WordConvolution::forward(const Pass& pass, const Value<float>& words,
                                      const Offsets& offsets) const {
  return relu(product(windows_of_three(words, offsets), pass.parameters[first_]) +
              pass.parameters[first_ + 1]);
}

RecentGru::RecentGru(Parts& parts, const std::string& name, Index in, Index size, Index most)
    : first_(parts.size()), size_(size), most_(most) {
  parts.push_back({name + ".input", in, 3 * size});  // update | reset | proposal
  parts.push_back({name + ".gates", size, 2 * size});
  parts.push_back({name + ".candidate", size, size});
  parts.push_back({name + ".bias", 1, 3 * size});
}

Value<float> RecentGru::forward(const Pass& pass, const Value<float>& rows, const Offsets& offsets) const {
  const Value<float>&input = pass.parameters[first_], &gates = pass.parameters[first_ + 1],
        &candidate = pass.parameters[first_ + 2], &bias = pass.parameters[first_ + 3];
  const auto count = static_cast<std::size_t>(segments_in(offsets));
  std::vector<Index> length(count);
  for (std::size_t n = 0; n < count; ++n) {
    length[n] = std::min(most_, offsets[n + 1] - offsets[n]);
    require_shape(length[n] > 0, "a recurrent unit needs a row in every segment");
  }
  // Longest first: those that still run at a step are the first ones.
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return length[a] > length[b]; });
  const Value<float> projected = product(rows, input) + bias;  // [W, 3 size]
  Value<float> state = pass.tape.constant(Rows::Zero(static_cast<Index>(count), size_));
  const Index steps = count > 0 ? length[order[0]] : 0;
  for (Index step = 0; step < steps; ++step) {
    RowNumbers now;
    for (const std::size_t n : order)
      if (length[n] > step) now.push_back(offsets[n + 1] - length[n] + step);
    const auto running = static_cast<Index>(now.size()), ended = static_cast<Index>(count) - running;
    const Value<float> x = gather_rows(projected, std::move(now));
    const Value<float> before = slice_rows(state, 0, running);
    const Value<float> opened = sigmoid(slice_columns(x, 0, 2 * size_) + product(before, gates));
    const Value<float> update = slice_columns(opened, 0, size_), reset = slice_columns(opened, size_, size_);
    const Value<float> proposal =
        tanh(slice_columns(x, 2 * size_, size_) + product(reset * before, candidate));
    const Value<float> after = proposal + update * (before - proposal);
    state = ended == 0 ? after : above(after, slice_rows(state, running, ended));
  }
  RowNumbers places(count);
  for (std::size_t i = 0; i < count; ++i) places[order[i]] = static_cast<Index>(i);
  return gather_rows(state, std::move(places));
}

AttentionEncoder::AttentionEncoder(Parts& parts, const std::string& name, const Sizes& sizes)
    : dropout_(sizes.dropout),
      attention_(parts, name + ".attention", sizes.in, sizes.heads, sizes.head_size),
      pooling_(parts, name + ".pooling", sizes.heads * sizes.head_size, sizes.pooling) {}

Value<float> AttentionEncoder::forward(const Pass& pass, const Value<float>& rows,
                                       const Offsets& offsets) const {
  const double share = pass.trains ? dropout_ : 0;
  const Value<float> attended = attention_.forward(pass, dropout(rows, share, pass.draws), offsets);
  return pooling_.forward(pass, dropout(attended, share, pass.draws), offsets);
}

}  // namespace sotto::local
