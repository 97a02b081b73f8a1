// A run folder of an earlier version is evaluated, and its checkpoint read. compatibility/ has what 'sotto
// train' left: the flagship of eight numbers after one round on made-up news.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/binary_file.h"
#include "data/newsroom/newsroom.h"
#include "eval/training_run.h"
#include "fl/run_log.h"
#include "test_paths.h"

namespace sotto::eval {
namespace {

const fs::path versions = fs::path(SOTTO_SOURCE_DIR) / "tests" / "eval" / "compatibility";

class RunBefore : public ::testing::TestWithParam<std::string> {
 protected:
  RunBefore() {
    // The data that it was trained on; its fingerprint stands in run.json.
    data::NewsroomSettings settings;
    settings.users = 34, settings.news = 60, settings.days = 3;
    if (const auto made = data::generate_newsroom(settings, folder / "news"); !made)
      throw std::runtime_error(made.error().message);
    dataset.emplace(data::Dataset::open(folder / "news").value());
    fs::copy(versions / GetParam(), folder / "run", fs::copy_options::recursive);
    for (const auto& entry : fs::directory_iterator(folder / "run"))
      fs::permissions(entry.path(), fs::perms::owner_read | fs::perms::owner_write);
  }
  TempFolder folder;
  std::optional<data::Dataset> dataset;
};

TEST_P(RunBefore, RanksAsItDidAndHasItsCheckpoint) {
  const auto then = nlohmann::json::parse(read_file(folder / "run" / "result.json", 1 << 20).value());
  const auto now = evaluate_run(folder / "run", *dataset);
  ASSERT_TRUE(now) << now.error().message;
  const auto* ranked = std::get_if<metrics::MeanImpressionMetrics>(&*now);
  ASSERT_NE(ranked, nullptr);
  EXPECT_NEAR(ranked->mean.auc, then["auc"].get<double>(), 1e-6);
  // What training would go on from.
  const fs::path last = folder / "run" / "last.sotto";
  const auto reader = BinaryFileReader::open(last, "checkpoint", 2);
  ASSERT_TRUE(reader) << reader.error().message;
  const auto kept = fl::load_checkpoint(last, std::string(reader->text("layout").value()));
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->parameters.numel(), then["parameters"].get<std::int64_t>());
}

std::vector<std::string> all_versions() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(versions)) names.push_back(entry.path().filename());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Versions, RunBefore, ::testing::ValuesIn(all_versions()), [](const auto& version) {
  std::string name = version.param;
  std::erase_if(name, [](char letter) { return std::isalnum(letter) == 0; });
  return name;
});

}  // namespace
}  // namespace sotto::eval
