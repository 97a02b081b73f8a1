// A witness at work on a coordinator over HTTP.

#ifdef SOTTO_HAVE_NET

#include "cli/log_witness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/chain_hash.h"
#include "cli/key_files.h"
#include "coordinator/coordinator.h"
#include "rounds/small_campaign.h"
#include "test_paths.h"

namespace sotto::cli {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view layout = "numbers:50 ";

// One version, and nothing is ever folded.
class StillTrainer final : public coordinator::Folding {
 public:
  Result<coordinator::FoldedModel> begin(const std::string&) override {
    rounds::ItemTable table;
    table.ids = {"a", "b"};
    return coordinator::FoldedModel{std::string(layout), std::move(table)};
  }
  Result<coordinator::FoldedRound> next() override {
    return coordinator::FoldedRound{0, 1, rounds::one_row(std::vector<float>(50, 0.5F)), {}, "", false};
  }
  Status give(const std::vector<coordinator::GroupSum>&) override { return {}; }
};

struct Scene {
  Scene() {
    witness = write_key_files(folder / "witness").value();
    EXPECT_TRUE(write_file_atomically(
        folder / "owner.pub", "sotto public key 1 " + to_hex(rounds::coordinator_key().public_key()) + "\n"));
    rounds::Campaign campaign = rounds::small_campaign();
    const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
    campaign.layout = rounds::layout_hash(layout);
    campaign.valid_from = now - std::chrono::hours(1);
    campaign.valid_until = now + std::chrono::hours(1);
    campaign.witnesses = {witness};
    campaign.witnesses_needed = 1;
    coordinator::CoordinatorSettings settings;
    settings.store = (folder / "store").string();
    settings.campaign = sign_document(rounds::campaign_kind, encode(campaign), rounds::operator_key());
    settings.operator_key = rounds::operator_key().public_key();
    running = coordinator::Coordinator::start(settings, rounds::coordinator_key(), trainer).value();
    given.server = running->url();
    given.owner = (folder / "owner.pub").string();
    given.key = (folder / "witness").string();
    given.state = (folder / "seen").string();
  }
  // Until the first version is in the log and waits for a word about it.
  bool waits() const {
    for (int i = 0; i < 500 && running->progress().state != "waiting for witnesses"; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return running->progress().state == "waiting for witnesses";
  }
  bool gathers() const {
    for (int i = 0; i < 500 && running->progress().state != "gathering"; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return running->progress().state == "gathering";
  }

  TempFolder folder;
  rounds::IdentityKey witness{};
  StillTrainer trainer;
  std::unique_ptr<coordinator::Coordinator> running;
  WitnessArguments given;
  Output output{.json = true};
};

TEST(LogWitness, LetsACoordinatorGoOnWhoseLogItHasSeen) {
  Scene scene;
  ASSERT_TRUE(scene.waits());
  const Status done = witness_server(scene.given, scene.output);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(scene.gathers());
  EXPECT_EQ(read_witness_state(scene.given.state).value().size(), 2U) << "the campaign and its first version";
  EXPECT_TRUE(witness_server(scene.given, scene.output)) << "a second word says nothing new";
}

TEST(LogWitness, RefusesALogThatDoesNotContinueWhatItSaw) {
  Scene scene;
  ASSERT_TRUE(scene.waits());
  rounds::LogFrontier another;
  another.append(rounds::leaf_hash(rounds::LogLeaf{rounds::LeafKind::pack, rounds::model_hash()}));
  ASSERT_TRUE(write_file_atomically(scene.given.state, another.encode()));
  const Status forked = witness_server(scene.given, scene.output);
  ASSERT_FALSE(forked);
  EXPECT_THAT(forked.error().message, HasSubstr("forked"));
  for (std::uint8_t i = 0; i < 3; ++i) another.append({i});
  ASSERT_TRUE(write_file_atomically(scene.given.state, another.encode()));
  const Status shortened = witness_server(scene.given, scene.output);
  ASSERT_FALSE(shortened);
  EXPECT_THAT(shortened.error().message, HasSubstr("taken away"));
  EXPECT_EQ(scene.running->progress().state, "waiting for witnesses");
}

TEST(LogWitness, RefusesTheLogOfAnotherOwner) {
  Scene scene;
  ASSERT_TRUE(scene.waits());
  ASSERT_TRUE(write_file_atomically(scene.given.owner, "sotto public key 1 " + to_hex(scene.witness) + "\n"));
  const Status refused = witness_server(scene.given, scene.output);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("another log"));
  EXPECT_FALSE(fs::exists(scene.given.state)) << "nothing was seen";
}

}  // namespace
}  // namespace sotto::cli

#endif
