#include "local/models/interaction_network.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "local/tape/arithmetic.h"
#include "local/tape/losses.h"
#include "local/tape/ragged.h"
#include "local/tape/rows.h"

namespace sotto::local {

namespace {

// Parts: a table per field; with a history p, q, c and r; then W_1 b_1 ... W_layers b_layers W_o b_o.
Layout layout_of(const NetworkSizes& sizes) {
  std::vector<Layout::Part> parts;
  for (std::size_t field = 0; field < sizes.values.size(); ++field)
    parts.push_back(
        {"field" + std::to_string(field), std::max<Index>(sizes.values[field], 1), sizes.embedding});
  Index width = static_cast<Index>(sizes.values.size()) * sizes.embedding;
  if (sizes.remembers()) {
    parts.push_back({"remembered", sizes.items, sizes.embedding});
    parts.push_back({"scored", sizes.items, sizes.embedding});
    parts.push_back({"bias", sizes.items, 1});
    parts.push_back({"again", 1, 1});
    width += 1 + sizes.embedding;
  }
  for (std::int64_t layer = 1; layer <= sizes.layers; ++layer, width = sizes.hidden) {
    parts.push_back({"weight" + std::to_string(layer), width, sizes.hidden});
    parts.push_back({"bias" + std::to_string(layer), 1, sizes.hidden});
  }
  parts.push_back({"weight_out", width, 1});
  parts.push_back({"bias_out", 1, 1});
  return Layout(std::move(parts));
}

// The rows of a table that a step reads, numbered in the order of their first use.
class TouchedRows {
 public:
  Index place(std::uint32_t row) {
    const auto [found, is_first] = places_.try_emplace(row, static_cast<Index>(rows_.size()));
    if (is_first) rows_.push_back(row);
    return found->second;
  }
  const std::vector<std::uint32_t>& rows() const { return rows_; }

 private:
  std::unordered_map<std::uint32_t, Index> places_;
  std::vector<std::uint32_t> rows_;
};

Status check_field(const CodeField& field, std::size_t rows, std::int64_t values, std::string_view what) {
  if (field.rows() != rows || field.offsets.empty() || field.offsets.front() != 0 ||
      field.offsets.back() != field.codes.size() ||
      !std::is_sorted(field.offsets.begin(), field.offsets.end()))
    return bad_input("a feature of {} has {} rows and must have {}, cut one after another", what,
                     field.rows(), rows);
  if (const auto largest = std::max_element(field.codes.begin(), field.codes.end());
      largest != field.codes.end() && *largest >= values)
    return bad_input("a feature of {} has the value {} of {}: leave out values that the model does not know",
                     what, *largest, values);
  return {};
}

}  // namespace

InteractionNetwork::InteractionNetwork(const NetworkSizes& sizes) : sizes_(sizes), layout_(layout_of(sizes)) {
  std::size_t offset = 0;
  for (const Layout::Part& part : layout_.parts()) {
    offsets_.push_back(offset);
    offset += static_cast<std::size_t>(part.size());
  }
}

Status InteractionNetwork::check(const RoundInputs& inputs, const OwnEvents& own) const {
  if (inputs.item_fields.size() != sizes_.item_fields() || own.user_fields.size() != sizes_.user_fields ||
      own.context_fields.size() != sizes_.context_fields)
    return bad_input(
        "{} features of the reader, {} of situations and {} of items were given, and the model reads {}, {} "
        "and {}",
        own.user_fields.size(), own.context_fields.size(), inputs.item_fields.size(), sizes_.user_fields,
        sizes_.context_fields, sizes_.item_fields());
  auto values = sizes_.values.begin();
  for (const CodeField& field : own.user_fields) SOTTO_CHECK(check_field(field, 1, *values++, "the reader"));
  for (const CodeField& field : own.context_fields)
    SOTTO_CHECK(check_field(field, own.rows.size(), *values++, "situations"));
  const auto items = static_cast<std::size_t>(sizes_.items);
  for (const CodeField& field : inputs.item_fields)
    SOTTO_CHECK(check_field(field, items, *values++, "items"));
  for (const OwnRow& row : own.rows)
    if (row.item >= items)
      return bad_input("a row names item {} of {}: leave items out that the model does not know", row.item,
                       items);
  return {};
}

// The logits of some examples, and what of the parameters they read.
class InteractionNetwork::Step {
 public:
  Step(const InteractionNetwork& network, std::span<const float> parameters, const RoundInputs& inputs,
       const OwnEvents& own, std::span<const ItemRow> history, std::span<const InteractionExample> examples)
      : network_(network), parameters_(parameters), inputs_(inputs), own_(own), examples_(examples) {
    const NetworkSizes& sizes = network.sizes_;
    std::size_t next = 0;
    std::vector<Value<float>> columns;
    for (; next < sizes.values.size(); ++next) columns.push_back(embedded(next));
    std::vector<Value<float>> direct;
    if (sizes.remembers()) {
      add_history(history, next, columns, direct);
      next += 4;
    }
    Value<float> active = columns.front();
    for (std::size_t i = 1; i < columns.size(); ++i) active = beside(active, columns[i]);
    for (std::int64_t layer = 0; layer < sizes.layers; ++layer, next += 2)
      active = relu(product(active, whole(next)) + whole(next + 1));
    Value<float> sum = product(active, whole(next)) + whole(next + 1);
    for (const Value<float>& part : direct) sum = sum + part;
    logits_.push_back(sum);
  }

  const Value<float>& logits() const { return logits_.front(); }  // [B, 1]
  Tape<float>& tape() { return tape_; }

  void add_gradients(std::span<float> gradient) const {
    for (const Read& read : reads_) {
      const Layout::Part& part = network_.layout_.parts()[read.part];
      Eigen::Map<Rows> all(gradient.data() + network_.offsets_[read.part], part.rows, part.cols);
      if (read.rows.empty())
        all += read.value.gradient();
      else
        for (std::size_t r = 0; r < read.rows.size(); ++r)
          all.row(static_cast<Index>(read.rows[r])) += read.value.gradient().row(static_cast<Index>(r));
    }
  }

 private:
  struct Read {
    std::size_t part;
    std::vector<std::uint32_t> rows;  // of a table; empty: all of the part
    Value<float> value;
  };

  Eigen::Map<const Rows> numbers_of(std::size_t part) const {
    const Layout::Part& shape = network_.layout_.parts()[part];
    return {parameters_.data() + network_.offsets_[part], shape.rows, shape.cols};
  }
  Value<float> whole(std::size_t part) {
    reads_.push_back({part, {}, tape_.trained(numbers_of(part))});
    return reads_.back().value;
  }
  // There must be a row.
  Value<float> rows(std::size_t part, const TouchedRows& touched) {
    const auto all = numbers_of(part);
    Rows own(static_cast<Index>(touched.rows().size()), all.cols());
    for (Index r = 0; r < own.rows(); ++r)
      own.row(r) = all.row(static_cast<Index>(touched.rows()[static_cast<std::size_t>(r)]));
    reads_.push_back({part, touched.rows(), tape_.trained(std::move(own))});
    return reads_.back().value;
  }

  std::span<const std::uint32_t> codes_of(std::size_t field, const InteractionExample& example) const {
    const NetworkSizes& sizes = network_.sizes_;
    if (field < sizes.user_fields) return own_.user_fields[field].of(0);
    field -= sizes.user_fields;
    if (field < sizes.context_fields) return own_.context_fields[field].of(example.row);
    return inputs_.item_fields[field - sizes.context_fields].of(example.item);
  }

  // The mean of the embeddings of an example's values: [B, D].
  Value<float> embedded(std::size_t field) {
    TouchedRows touched;
    RowNumbers places;
    Offsets ends = {0};
    std::vector<float> shares;
    for (const InteractionExample& example : examples_) {
      const auto codes = codes_of(field, example);
      for (const std::uint32_t code : codes) {
        places.push_back(touched.place(code));
        shares.push_back(1 / static_cast<float>(codes.size()));
      }
      ends.push_back(static_cast<Index>(places.size()));
    }
    if (places.empty())
      return tape_.constant(Rows::Zero(static_cast<Index>(examples_.size()), network_.sizes_.embedding));
    const Value<float> share =
        tape_.constant(Eigen::Map<const Rows>(shares.data(), static_cast<Index>(shares.size()), 1));
    return segment_sum(gather_rows(rows(field, touched), std::move(places)) * share, std::move(ends));
  }

  // What the reader remembers, as a column of x and beside the network.
  void add_history(std::span<const ItemRow> history, std::size_t first, std::vector<Value<float>>& columns,
                   std::vector<Value<float>>& direct) {
    std::unordered_map<ItemRow, std::uint32_t> times;
    TouchedRows distinct, scored;
    for (const ItemRow item : history) ++times[item], distinct.place(item);
    RowNumbers places;
    Rows counts(static_cast<Index>(examples_.size()), 1);
    for (std::size_t b = 0; b < examples_.size(); ++b) {
      places.push_back(scored.place(examples_[b].item));
      const auto found = times.find(examples_[b].item);
      counts(static_cast<Index>(b), 0) =
          found == times.end() ? 0.0F : std::log1p(static_cast<float>(found->second));
    }
    const Value<float> count = tape_.constant(std::move(counts));  // [B, 1]
    const auto remembered = static_cast<Index>(distinct.rows().size());
    const Value<float> reader =
        remembered == 0 ? tape_.constant(Rows::Zero(1, network_.sizes_.embedding))
                        : product(tape_.constant(Rows::Constant(
                                      1, remembered, 1 / std::sqrt(static_cast<float>(remembered)))),
                                  rows(first, distinct));
    const Value<float> meeting = reader * gather_rows(rows(first + 1, scored), places);  // h ∘ q: [B, D]
    columns.push_back(count);
    columns.push_back(meeting);
    direct.push_back(product(meeting, tape_.constant(Rows::Ones(meeting.cols(), 1))));
    direct.push_back(gather_rows(rows(first + 2, scored), std::move(places)));
    direct.push_back(count * whole(first + 3));
  }

  const InteractionNetwork& network_;
  std::span<const float> parameters_;
  const RoundInputs& inputs_;
  const OwnEvents& own_;
  std::span<const InteractionExample> examples_;
  Tape<float> tape_;
  std::vector<Read> reads_;
  std::vector<Value<float>> logits_;  // one, made last
};

float InteractionNetwork::add_gradient(std::span<const float> parameters, const RoundInputs& inputs,
                                       const OwnEvents& own, std::span<const ItemRow> history,
                                       std::span<const InteractionExample> examples,
                                       std::span<float> gradient) const {
  Step step(*this, parameters, inputs, own, history, examples);
  std::vector<float> labels, weights;
  for (const InteractionExample& example : examples) {
    labels.push_back(example.label);
    weights.push_back(example.weight);
  }
  const Value<float> loss = binary_loss(step.logits(), labels, weights);
  step.tape().backward(loss);
  step.add_gradients(gradient);
  return loss.numbers()(0, 0);
}

std::vector<float> InteractionNetwork::logits(std::span<const float> parameters, const RoundInputs& inputs,
                                              const OwnEvents& own, std::span<const ItemRow> history,
                                              std::span<const InteractionExample> examples) const {
  const Step step(*this, parameters, inputs, own, history, examples);
  const Rows& numbers = step.logits().numbers();
  return {numbers.data(), numbers.data() + numbers.size()};
}

}  // namespace sotto::local
