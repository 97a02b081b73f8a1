// No setting is accepted and ignored: every setting of every recipe, in every mode, is changed alone, and
// then parameters, plan, datasheet or metrics of a tiny run must change, or the recipe must refuse it.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/binary_file.h"
#include "data/dataset_builder.h"
#include "eval/training_run.h"
#include "recipes/interaction_run.h"
#include "recipes/news_run.h"
#include "test_paths.h"

namespace sotto::eval {
namespace {

using Assignments = std::vector<std::string>;

// Settings that say where, when or by which means something is computed, and not what; with the test that
// shows what each of them does.
const std::map<std::string, std::string> changes_nothing_by_design = {
    {"checkpoint_every", "how often files are written: RoundEngine.LooksAndWritesAsOftenAsAsked…"},
    {"evaluate_every", "how often validation impressions are looked at: the same test"},
    {"patience", "ends runs that no longer get better: RoundEngine.KeepsTheBestRoundAndStopsWithoutPatience"},
    {"copies_mb", "memory: how many copies train at once: InteractionTraining.TheMeanIsTheMean…"},
    {"bert_memory",
     "memory, for the backward pass: BertTextEncoder.ResultAndGradientsDoNotDependOnTheMemory"},
    {"updates", "who computes an update: both give the same one (DeviceUpdates, NetworkRounds)"},
    {"features",
     "stands out of the noise with more users than there are here: DpSvd.ReckonsWithFeatures…, "
     "PairFold.GenresTellTheTastesApart…"},
};

// What must be set beside a setting that is refused without; then it must change something.
const std::map<std::string, Assignments> enabled_by = {
    {"momentum", {"optimiser=sgd"}},
    {"beta1", {"optimiser=adam"}},
    {"beta2", {"optimiser=adam"}},
    {"tau", {"optimiser=adam"}},
    {"second_moment", {"optimiser=adam"}},
    {"local_batch", {"local_epochs=2"}},
    {"local_learning_rate", {"local_epochs=2"}},
    {"local_epochs", {"local_steps=0"}},
    {"proximal", {"local_steps=0", "local_epochs=3"}},
    {"proximal_norm", {"local_steps=0", "local_epochs=3", "proximal=0.5"}},
    {"tuning_rate", {"tuning_epochs=2"}},
    {"negatives", {"labels=sampled"}},
    {"noise", {"serving_epsilon=2"}},
    {"noise_delta", {"noise=gaussian", "serving_epsilon=2"}},
    {"vector_clip", {"serving_epsilon=2"}},
    {"prototypes", {"serving_epsilon=2"}},
    {"weight_clip", {"serving_epsilon=2"}},
    {"padding", {"serving_epsilon=2"}},
    {"personal_weight", {"personal_steps=3"}},
    {"clip_rate", {"clip_quantile=0.5"}},
    {"clip_floor", {"clip_quantile=0.5"}},
    {"upload_bits", {"compress=true"}},
    {"validation", {"validation_impressions=6"}},
};

// What must be set beside a setting so that it can matter at this size.
const std::map<std::string, Assignments> beside_of = {
    {"local_steps", {"local_batch=1"}},      {"against", {"cohort=8", "group=8"}},
    {"rare", {"popularity=0", "centre=0"}},  {"tuning_epochs", {"printed_bound=0.01"}},
    {"tuning_rate", {"printed_bound=0.01"}},
};

// Values that matter at this size where half as much again would not.
const std::map<std::string, std::string> telling = {
    {"max_history", "1"},
    {"prototypes", "2"},
    {"max_words", "2"},
    {"min_word_count", "22"},
    {"max_vocabulary", "4"},
    {"local_batch", "1"},
    {"batch", "3"},
    {"popularity", "100000"},
    {"again", "0"},
    {"rare", "1"},
    {"personal_steps", "0"},
    {"tuning_epochs", "60"},
    {"tuning_rate", "3"},
    {"max_abstract_words", "1"},
    {"personal_weight", "0.001"},
    {"clip_floor", "1000"},
    {"positive_above", "1.5"},
    {"user_share", "0.5"},
    {"train_share", "0.5"},
    {"heads", "1"},
    {"recent_clicks", "1"},
    {"minimum_cohort", "1000"},
    {"halve_every", "1"},
    {"validation_impressions", "5"},
    {"largest_update", "0.001"},
    {"printed_floor", "1e6"},
    {"delta", "0.001"},
    {"gradient_clip", "0.0001"},
    {"clip_norm", "0.0001"},
    {"choose_noise", "3"},
    {"items", "5"},
    {"dropping", "0.3"},
    {"corrupted", "0.3"},
    {"participations", "1"},
    {"epsilon", "50"},
    {"ridge", "1000"},
    {"public_categories", "red"},
    {"glove", "no-such-file"},
    {"bert", "no-such-folder"},
};

constexpr std::uint32_t users = 20, items = 40;

data::Dataset news(const TempFolder& folder) {
  data::DatasetBuilder builder("tiny", "test");
  const std::string words[] = {"sea", "Fire", "half-price", "Ann's", "isn't", "stone,", "wind", "fire"};
  for (std::size_t i = 0; i < items; ++i) {
    const std::string colour = i % 2 ? "blue" : "red", first = words[i % 8], second = words[(i / 3) % 8];
    builder.add_item({"N" + std::to_string(i), colour + " " + first + " " + second + (i == 5 ? " rare" : ""),
                      first + " of " + second + " once", colour, ""});
  }
  for (std::uint32_t u = 0; u < users; ++u) {
    const data::UserId user = builder.user("U" + std::to_string(u));
    const auto item = [&](std::uint32_t number, bool own) {
      return static_cast<data::ItemId>((2 * (3 * u + number) + (own ? u : u + 1) % 2) % items);
    };
    const auto handle =
        builder.add_history(std::vector<data::ItemId>{item(0, true), item(1, true), item(2, false)});
    const auto show = [&](std::uint32_t number, std::int64_t time, data::Split split) {
      const std::vector<data::ItemId> shown = {item(number, false),     item(number, true),
                                               item(number + 1, false), item(number + 2, false),
                                               item(number + 3, true),  item(number + 4, false)};
      builder.add_impression(user, time, split, handle, 3, shown,
                             std::vector<std::uint8_t>{0, 1, 0, 0, 0, 0});
    };
    for (std::uint32_t k = 0; k < 3; ++k) show(4 + 5 * k, 100 + 10 * u + k, data::Split::train);
    for (std::uint32_t k = 0; k < 3; ++k) show(3 + 6 * k, 900 + k, data::Split::test);
  }
  EXPECT_TRUE(builder.write(folder.path()));
  return data::Dataset::open(folder.path()).value();
}

data::Dataset ratings(const TempFolder& folder) {
  data::DatasetBuilder builder("tiny", "test");
  for (std::size_t i = 0; i < items; ++i) {
    const data::ItemId item = builder.add_item({.id = "M" + std::to_string(i), .title = "M"});
    const std::string_view genres[] = {"cold", "warm", "wet", "dry"};
    builder.set_item_category(item, "genres", {&genres[i % 4], 1});
  }
  for (std::uint32_t u = 0; u < users; ++u) {
    const data::UserId user = builder.user("U" + std::to_string(u));
    const std::string_view gender = u % 3 == 0 ? "F" : "M";
    builder.set_user_category(user, "gender", {&gender, 1});
    for (std::uint32_t k = 0; k < 12; ++k) {
      const auto item =
          static_cast<data::ItemId>((5 * u + 7 * (k % 9)) % items);  // the last three are repeated
      const float rating = item % 4 == u % 4 || k % 3 == 0 ? 5 : k % 3 == 1 ? 1 : 2;
      builder.add_interaction(user, item, rating, 100 + k);
    }
  }
  EXPECT_TRUE(builder.write(folder.path()));
  return data::Dataset::open(folder.path()).value();
}

struct Subject {
  std::string recipe;
  Assignments choice;  // of a mode or variant; empty: there is none
  std::string label() const {
    std::string name = recipe;
    for (const auto& assignment : choice) name += "_" + assignment.substr(assignment.find('=') + 1);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }
};
void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.label(); }

// The settings of a recipe, with its defaults for the choice.
struct Declared {
  explicit Declared(const Subject& subject) : recipe(recipes::find_recipe(subject.recipe).value()->make()) {
    EXPECT_TRUE(recipes::bind_settings(*recipe, table, subject.choice));
  }
  bool knows(const std::string& name) const {
    const auto rows = table.rows();
    return std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
  }
  std::unique_ptr<recipes::Recipe> recipe;
  SettingsTable table;
};

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const auto& entry : recipes::recipes()) {
    const Subject plain{std::string(entry.name), {}};
    const auto rows = Declared(plain).table.rows();
    const auto chosen = std::find_if(rows.begin(), rows.end(), [&](const auto& row) {
      return row.name == "mode" || row.name == "variant" ||
             (row.name == "noise" && row.allowed.find("none") != std::string::npos);
    });
    if (chosen == rows.end()) {
      all.push_back(plain);
    } else if (chosen->name == "noise") {
      all.push_back({plain.recipe, {"noise=distributed"}});
      all.push_back({plain.recipe, {"noise=none"}});
    } else if (chosen->name == "variant") {
      all.push_back({plain.recipe, {"variant=reptile"}});
      all.push_back({plain.recipe, {"variant=fedsgd"}});
    } else {
      all.push_back({plain.recipe, {"mode=sound"}});
      all.push_back({plain.recipe, {"mode=paper"}});
    }
  }
  return all;
}

// Settings of text, model and data: read before modes part ways, so that one mode shows what they do. The
// others are tested in every mode.
std::set<std::string> read_in_preparation() {
  SettingsTable table;
  recipes::NewsSettings news;
  news.bind_with_choice(table);
  SettingsTable interactions;
  fl::InteractionSettings data;
  model::TabularShape shape;
  data.bind(interactions);
  shape.bind(interactions);
  std::set<std::string> names;
  for (const SettingsTable* one : {&table, &interactions})
    for (const auto& row : one->rows()) names.insert(row.name);
  names.erase("validation_impressions");           // which private modes refuse
  names.insert({"tuning_epochs", "tuning_rate"});  // read when a user is tested
  return names;
}

class EverySetting : public ::testing::TestWithParam<Subject> {
 protected:
  EverySetting() : declared(GetParam()) {
    const bool interactions = declared.knows("train_share");
    dataset.emplace(interactions ? ratings(data) : news(data));
    base = GetParam().choice;
    // Everybody in every round where noise is calibrated: accounting without sampling takes no time.
    const std::string cohort = std::to_string(!calibrates() ? 6 : interactions ? users * 8 / 10 : users);
    for (const std::string& setting : Assignments{
             "cohort=" + cohort, "group=" + cohort, "word_size=4", "heads=2", "head_size=2", "filters=3",
             "pooling_size=3", "vector_size=4", "embedding=3", "hidden=3", "layers=1", "factors=3",
             "vectors=3", "train_words=true", "batch=8", "personal_steps=20", "basis_vectors=2"})
      if (declared.knows(setting.substr(0, setting.find('=')))) base.push_back(setting);
    if (GetParam().recipe != "dp-svd") base.push_back("rounds=2");
    // The printed bound of 40 would drown so few users in noise.
    if (!calibrates() && declared.knows("printed_bound")) base.emplace_back("printed_bound=0.1");
    if (calibrates()) base.insert(base.end(), {"epsilon=30", "bits=12"});  // a coarse grid: narrow laws
    if (declared.knows("validation_impressions") && !declared.knows("epsilon"))
      base.push_back("validation_impressions=6");
  }
  bool calibrates() const {
    if (!declared.knows("epsilon")) return false;
    for (const auto& assignment : GetParam().choice)
      if (assignment == "mode=paper" || assignment == "noise=none") return false;
    return true;
  }

  // All that a run says, or why it was refused.
  struct Said {
    std::string text;
    bool refused = false;
  };
  Said run(const Assignments& more) {
    TrainJob job;
    job.recipe = GetParam().recipe;
    job.reproducible = true;  // or noise alone would make every two runs differ
    job.out = runs / std::to_string(number_++);
    job.assignments = base;
    job.assignments.insert(job.assignments.end(), more.begin(), more.end());
    const auto outcome = train_run(job, *dataset, {});
    if (!outcome) return {outcome.error().message, true};
    auto line = to_json(*outcome);
    line.erase("seconds");
    std::string text = line.dump();
    // Not the file itself: it holds the seconds that the run took.
    const auto best = BinaryFileReader::open(job.out / "best.sotto", "checkpoint", 2);
    EXPECT_TRUE(best) << best.error().message;
    const std::span<const float> parameters = best->section<float>("parameters").value();
    for (const float value : parameters) text += fmt::format("{:a} ", value);
    for (const char* said : {"privacy.json", "privacy.toml"})
      if (fs::exists(job.out / said)) text += read_file(job.out / said, 1 << 20).value();
    return {text, false};
  }

  // Other values to try, in their order.
  std::vector<std::string> others(const SettingsTable::Row& row) const {
    if (const auto found = telling.find(row.name); found != telling.end() && found->second != row.value)
      return {found->second};
    if (row.type == "bool") return {row.value == "true" ? "false" : "true"};
    if (row.type == "text") return {"changed"};
    if (row.type == "choice") {
      std::vector<std::string> words;
      std::istringstream list(row.allowed);
      for (std::string word; list >> word;) {
        if (word.back() == ',') word.pop_back();
        if (word != row.value) words.push_back(word);
      }
      return words;
    }
    const double value = std::strtod(row.value.c_str(), nullptr);
    if (row.type == "integer") return {fmt::format("{:.0f}", value + 1), fmt::format("{:.0f}", value - 1)};
    return {fmt::format("{:.17g}", value == 0 ? 0.3 : value * 1.5), fmt::format("{:.17g}", value / 2)};
  }

  // What the recipe knows of the settings that a table names; nothing when one of them is missing.
  Assignments known_of(const std::map<std::string, Assignments>& table, const std::string& name) const {
    const auto found = table.find(name);
    if (found == table.end()) return {};
    Assignments known;
    for (const auto& assignment : found->second)
      if (declared.knows(assignment.substr(0, assignment.find('=')))) known.push_back(assignment);
    return known;
  }
  static Assignments and_then(Assignments first, const std::string& last) {
    first.push_back(last);
    return first;
  }

  TempFolder data, runs;
  Declared declared;
  std::optional<data::Dataset> dataset;
  Assignments base;

 private:
  int number_ = 0;
};

TEST_P(EverySetting, ChangesTheOutcomeOrIsRefused) {
  SettingsTable& table = declared.table;
  for (const auto& assignment : base) ASSERT_TRUE(table.set_assignment(assignment)) << assignment;
  const std::set<std::string> prepared = read_in_preparation();
  const Said as_it_is = run({});
  ASSERT_FALSE(as_it_is.refused) << as_it_is.text;
  EXPECT_EQ(run({}).text, as_it_is.text) << "two runs alike differ: nothing could be told";
  for (const auto& row : table.rows()) {
    if (changes_nothing_by_design.contains(row.name)) continue;
    if (calibrates() && GetParam().recipe != "dp-svd" && prepared.contains(row.name)) continue;
    if (std::find_if(GetParam().choice.begin(), GetParam().choice.end(), [&](const auto& assignment) {
          return assignment.starts_with(row.name + "=");
        }) != GetParam().choice.end())
      continue;
    const Assignments beside = known_of(beside_of, row.name);
    const Said before = beside.empty() ? as_it_is : run(beside);
    bool changed = false, refused = false;
    std::string tried;
    for (const std::string& value : others(row)) {
      if (changed || refused || !Declared(GetParam()).table.set(row.name, value))
        continue;  // out of its range
      tried = row.name + "=" + value;
      const Said said = run(and_then(beside, tried));
      refused = said.refused;
      changed = said.text != before.text;
    }
    EXPECT_TRUE(changed) << tried << " is accepted and ignored";
    const Assignments needed = known_of(enabled_by, row.name);
    if (!refused || needed.empty()) continue;
    const Said without = run(needed);
    EXPECT_TRUE(without.refused || run(and_then(needed, tried)).text != without.text)
        << tried << " is ignored although what it needs is set";
  }
}

INSTANTIATE_TEST_SUITE_P(Recipes, EverySetting, ::testing::ValuesIn(subjects()),
                         [](const auto& test) { return test.param.label(); });

}  // namespace
}  // namespace sotto::eval
