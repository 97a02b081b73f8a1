// The batched network gives the logits of its formula, computed here number by number.

#include "model/interactions/tabular_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fl/tiny_interactions.h"

namespace sotto::fl {
namespace {

std::vector<double> row_of(const torch::Tensor& table, std::int64_t row) {
  std::vector<double> values;
  for (std::int64_t c = 0; c < table.size(1); ++c) values.push_back(table[row][c].item<double>());
  return values;
}

std::vector<double> mean_of(const torch::Tensor& table, std::span<const std::uint32_t> codes) {
  std::vector<double> mean(static_cast<std::size_t>(table.size(1)), 0);
  for (const std::uint32_t code : codes)
    for (std::size_t c = 0; c < mean.size(); ++c)
      mean[c] += row_of(table, code)[c] / static_cast<double>(codes.size());
  return mean;
}

double logit_by_hand(const testing::TinyInteractions& tiny, data::UserId user, data::ItemId item,
                     const std::vector<data::ItemId>& history) {
  const auto& parts = tiny.model->parts();
  const auto& inputs = tiny.inputs;
  std::vector<double> x;
  std::size_t part = 0;
  for (const auto& field : inputs.user) {
    const auto mean = mean_of(parts[part++], field.of(user));
    x.insert(x.end(), mean.begin(), mean.end());
  }
  for (const auto& field : inputs.item) {
    const auto mean = mean_of(parts[part++], field.of(item));
    x.insert(x.end(), mean.begin(), mean.end());
  }
  double direct = 0;
  if (model::reads_history(inputs.choice)) {
    const double times = static_cast<double>(std::count(history.begin(), history.end(), item));
    const std::set<data::ItemId> distinct(history.begin(), history.end());
    std::vector<double> reader(4, 0), product;
    for (const data::ItemId own : distinct)
      for (std::size_t c = 0; c < 4; ++c)
        reader[c] += row_of(parts[part], own)[c] / std::sqrt(static_cast<double>(distinct.size()));
    const auto scored = row_of(parts[part + 1], item);
    for (std::size_t c = 0; c < 4; ++c) product.push_back(reader[c] * scored[c]);
    direct = product[0] + product[1] + product[2] + product[3] + parts[part + 2][item][0].item<double>() +
             parts[part + 3][0][0].item<double>() * std::log1p(times);
    x.push_back(std::log1p(times));
    x.insert(x.end(), product.begin(), product.end());
    part += 4;
  }
  for (; part + 2 < parts.size(); part += 2) {
    std::vector<double> next = row_of(parts[part + 1], 0);
    for (std::size_t in = 0; in < x.size(); ++in)
      for (std::size_t out = 0; out < next.size(); ++out)
        next[out] +=
            x[in] * parts[part][static_cast<std::int64_t>(in)][static_cast<std::int64_t>(out)].item<double>();
    for (double& value : next) value = std::max(value, 0.0);
    x = next;
  }
  double out = parts[part + 1][0][0].item<double>();
  for (std::size_t in = 0; in < x.size(); ++in)
    out += x[in] * parts[part][static_cast<std::int64_t>(in)][0].item<double>();
  return out + direct;
}

TEST(TabularModel, ScoresTheCatalogueByItsFormula) {
  for (const model::InputChoice choice :
       {model::InputChoice::paper, model::InputChoice::ids, model::InputChoice::rich}) {
    const testing::TinyInteractions tiny(choice);
    const std::vector<data::ItemId> history = {3, 5, 3, 8};
    const model::TabularBatch batch = model::catalogue_batch(tiny.inputs, 2, 0, history, torch::kCPU);
    model::TabularParts whole;
    for (const auto& part : tiny.model->parts()) whole.push_back(part.unsqueeze(0));
    const torch::Tensor scores = tiny.model->logits(whole, batch);
    ASSERT_EQ(scores.size(1), 12);
    for (data::ItemId item = 0; item < 12; ++item)
      EXPECT_NEAR(scores[0][item].item<double>(), logit_by_hand(tiny, 2, item, history), 1e-5)
          << "item " << item;
  }
}

TEST(TabularModel, APersonalModelDiffersWhereItsUserTrained) {
  const testing::TinyInteractions tiny;
  model::TabularTask task;
  task.history = {1, 2};
  task.steps = {{{0, 4, 1, 1}, {0, 7, 0, 1}}};
  const model::TabularChunk chunk = model::make_chunk(tiny.inputs, {&task, 1}, torch::kCPU);
  model::TabularParts copies = tiny.model->copies(chunk);
  for (auto& copy : copies) copy = copy + 1;
  const model::TabularParts personal = tiny.model->personal(chunk, copies, 0);
  const std::size_t scored = tiny.inputs.field_count() + 1;
  const torch::Tensor moved = (personal[scored][0] - tiny.model->parts()[scored]).sum(1);
  for (data::ItemId item = 0; item < 12; ++item)
    EXPECT_NEAR(moved[item].item<double>(), item == 4 || item == 7 ? 4 : 0, 1e-5);
}

TEST(TabularInputs, LeakingCountsAreRefusedWhereThereAreNone) {
  const TempFolder folder;
  const data::Dataset dataset = testing::tiny_ratings(folder);
  const auto refused = model::build_tabular_inputs(dataset, model::InputChoice::leaking);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("cnt"), std::string::npos);
}

TEST(TabularInputs, RichReadsWhatTheCatalogueSays) {
  const TempFolder folder;
  const auto inputs =
      model::build_tabular_inputs(testing::tiny_ratings(folder), model::InputChoice::rich).value();
  std::vector<std::string> names;
  for (const auto& field : inputs.item) names.push_back(field.name);
  EXPECT_EQ(names, (std::vector<std::string>{"genres", "decade", "words"}));
  EXPECT_EQ(inputs.item[0].of(0).size(), 2U);
  ASSERT_EQ(inputs.user.size(), 1U);
  EXPECT_EQ(inputs.user[0].name, "gender");
}

TEST(TabularModel, ItsLinearFormIsItsFirstOrderInWhatADeviceRemembers) {
  const testing::TinyInteractions tiny;
  ASSERT_TRUE(tiny.model->remembers());
  const auto form = tiny.model->linear_form(tiny.inputs);
  model::TabularInputs nobody = tiny.inputs;
  for (auto* fields : {&nobody.user, &nobody.context})
    for (model::TabularField& field : *fields) field.offsets = {0, 0}, field.codes.clear();
  model::TabularParts parts;
  for (const auto& part : tiny.model->parts()) parts.push_back(part.detach().unsqueeze(0));
  const auto logits = [&](const std::vector<data::ItemId>& history) {
    return tiny.model->logits(parts, model::catalogue_batch(nobody, 0, 0, history, torch::kCPU))[0];
  };
  EXPECT_TRUE(torch::allclose(logits({}), form.bias, 1e-5, 1e-6)) << "exact without a history";
  // A device that remembers ever less of a click comes ever nearer, faster than what it remembers shrinks.
  const std::size_t remembered = tiny.inputs.field_count();
  const torch::Tensor whole = parts[remembered].clone();
  const auto error = [&](double share) {
    parts[remembered] = whole * share;
    const torch::Tensor reader = share * (form.remembered[0] + form.remembered[3]) / std::sqrt(2.0);
    torch::Tensor missed = (logits({0, 3}) - form.bias - torch::mv(form.scored, reader)).abs();
    missed[0] = missed[3] = 0;  // their own clicks are counted beside, which the form leaves out
    return missed.max().item<double>();
  };
  EXPECT_LT(error(1e-3), 1e-5);
  EXPECT_LT(error(1e-3), 0.05 * error(1) + 1e-6);
}

}  // namespace
}  // namespace sotto::fl
