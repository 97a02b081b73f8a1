#include "bench/training/padded_fednewsrec.h"

#include <cmath>

namespace sotto::bench {

using torch::Tensor;

PaddedFedNewsRec::PaddedFedNewsRec(const model::ModelInputs& inputs, const torch::nn::Module& weights,
                                   std::int64_t title_words, std::int64_t history_clicks)
    : shape_(inputs.shape),
      items_(inputs.items),
      weights_(weights.named_parameters()),
      title_words_(title_words),
      history_clicks_(history_clicks) {}

// x: [N, L, D]; mask: [N, L], true where there is something. Returns [N, L, D].
Tensor PaddedFedNewsRec::attention(const Tensor& x, const Tensor& mask, const char* name) const {
  const std::int64_t heads = shape_.heads, size = shape_.head_size, out = heads * size;
  const Tensor qkv = torch::matmul(x, weight(name));
  const auto split = [&](std::int64_t part) {
    return qkv.slice(2, part * out, (part + 1) * out)
        .view({x.size(0), x.size(1), heads, size})
        .transpose(1, 2);
  };
  const Tensor scores =
      torch::matmul(split(0), split(1).transpose(2, 3)) / std::sqrt(static_cast<double>(size));
  const Tensor hidden = mask.logical_not().unsqueeze(1).unsqueeze(1);
  const Tensor weights = scores.masked_fill(hidden, -1e9).softmax(-1);
  return torch::matmul(weights, split(2)).transpose(1, 2).reshape({x.size(0), x.size(1), out});
}

Tensor PaddedFedNewsRec::pooling(const Tensor& x, const Tensor& mask, const std::string& name) const {
  const Tensor hidden = (torch::matmul(x, weights_[name + ".weight"]) + weights_[name + ".bias"]).tanh();
  const Tensor scores = torch::matmul(hidden, weights_[name + ".query"]);
  const Tensor weights = scores.masked_fill(mask.logical_not(), -1e9).softmax(-1);
  return torch::matmul(weights.unsqueeze(1), x).squeeze(1);
}

Tensor PaddedFedNewsRec::encode_titles(std::span<const data::ItemId> items) const {
  const auto count = static_cast<std::int64_t>(items.size());
  Tensor tokens = torch::zeros({count, title_words_}, torch::kInt64);
  Tensor mask = torch::zeros({count, title_words_}, torch::kBool);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto title = items_->titles.of(items[static_cast<std::size_t>(i)]);
    for (std::size_t w = 0; w < title.size(); ++w) {
      tokens.data_ptr<std::int64_t>()[i * title_words_ + static_cast<std::int64_t>(w)] = title[w];
      mask.data_ptr<bool>()[i * title_words_ + static_cast<std::int64_t>(w)] = true;
    }
  }
  const Tensor words = torch::embedding(weight("words"), tokens) * mask.unsqueeze(2);
  // [3 in, out], the windows before | at | after the word, as conv1d wants it: [out, in, 3].
  const Tensor filter = weight("word_convolution.weight")
                            .view({3, shape_.word_size, shape_.attention_size()})
                            .permute({2, 1, 0});
  Tensor x = torch::conv1d(words.transpose(1, 2), filter, weight("word_convolution.bias"), 1, 1)
                 .transpose(1, 2)
                 .relu();
  x = attention(x, mask, "word_attention.weight").relu();
  return pooling(x, mask, "word_pooling");
}

Tensor PaddedFedNewsRec::recent(const Tensor& x, const Tensor& mask) const {
  const std::int64_t size = shape_.attention_size(), steps = std::min(shape_.recent_clicks, x.size(1));
  Tensor state = torch::zeros({x.size(0), size}, x.options());
  for (std::int64_t step = x.size(1) - steps; step < x.size(1); ++step) {
    const Tensor in =
        torch::addmm(weight("recent_clicks.bias"), x.select(1, step), weight("recent_clicks.input"));
    const Tensor gates = (in.slice(1, 0, 2 * size) + state.mm(weight("recent_clicks.gates"))).sigmoid();
    const Tensor update = gates.slice(1, 0, size), reset = gates.slice(1, size);
    const Tensor proposal =
        (in.slice(1, 2 * size) + (reset * state).mm(weight("recent_clicks.candidate"))).tanh();
    state = torch::where(mask.select(1, step).unsqueeze(1), update * state + (1 - update) * proposal, state);
  }
  return state;
}

// Histories stand at the right end, so that the last clicks are the last columns.
Tensor PaddedFedNewsRec::encode_histories(const Tensor& items, const model::Histories& histories) const {
  const auto count = static_cast<std::int64_t>(histories.size()), blank = items.size(0);
  Tensor rows = torch::full({count, history_clicks_}, blank, torch::kInt64);
  Tensor mask = torch::zeros({count, history_clicks_}, torch::kBool);
  for (std::int64_t u = 0; u < count; ++u) {
    const std::int64_t first = histories.offsets[static_cast<std::size_t>(u)];
    const std::int64_t length = histories.offsets[static_cast<std::size_t>(u) + 1] - first;
    const std::int64_t start = (u + 1) * history_clicks_ - length;
    for (std::int64_t i = 0; i < length; ++i) {
      rows.data_ptr<std::int64_t>()[start + i] = histories.rows[static_cast<std::size_t>(first + i)];
      mask.data_ptr<bool>()[start + i] = true;
    }
    if (length == 0) mask.data_ptr<bool>()[(u + 1) * history_clicks_ - 1] = true;  // one blank item
  }
  const Tensor table = torch::cat({items, torch::zeros({1, items.size(1)}, items.options())});
  const Tensor clicks = table.index_select(0, rows.flatten()).view({count, history_clicks_, items.size(1)});
  const Tensor long_term = pooling(attention(clicks, mask, "click_attention.weight"), mask, "click_pooling");
  const Tensor both = torch::stack({long_term, recent(clicks, mask)}, 1);
  return pooling(both, torch::ones({count, 2}, torch::kBool), "merge_pooling");
}

Tensor PaddedFedNewsRec::scores(const model::ScoreRequest& request, model::Pass&) {
  const Tensor items = encode_titles(request.items);
  const Tensor users = encode_histories(items, request.histories);
  const auto rows = [](std::span<const std::int64_t> numbers) {
    return torch::tensor(std::vector<std::int64_t>(numbers.begin(), numbers.end()), torch::kInt64);
  };
  return (items.index_select(0, rows(request.pair_item)) * users.index_select(0, rows(request.pair_history)))
      .sum(1);
}

}  // namespace sotto::bench
