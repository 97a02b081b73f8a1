#ifdef SOTTO_HAVE_NET

#include "cli/followed_campaign.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/chain_hash.h"
#include "cli/trainer_process.h"
#include "device/rounds/round_calls.h"
#include "rounds/campaign.h"
#include "rounds/model_version.h"

namespace sotto::cli {

namespace {

using std::chrono::steady_clock;

// What makes a folder the run that it is; its log and what it would train on from stay where they are.
constexpr std::array files_of_run = {"settings.toml", "run.json",     "vocabulary.sotto",
                                     "words.sotto",   "codes.txt",    "privacy.toml",
                                     "privacy.txt",   "privacy.json", "best.sotto"};
constexpr std::uint64_t most_file_bytes = std::uint64_t{1} << 32;

Result<std::string> answered(transport::HttpTransport& network, const device::ServerCall& call) {
  SOTTO_TRY(device::ServerAnswer answer, network.send(call));
  if (answer.status != 200) return failed("the coordinator answers {} for {}", answer.status, call.path);
  return std::move(answer.body);
}

}  // namespace

Result<FollowedCampaign> FollowedCampaign::open(FollowSettings settings) {
  FollowedCampaign followed(std::move(settings));
  SOTTO_CHECK(followed.copy_run());
  return followed;
}

// A copy of this very run goes on with the version that it took last.
Status FollowedCampaign::copy_run() const {
  SOTTO_TRY(const std::string wanted, read_file(settings_.run / "run.json", 1 << 20));
  if (const auto there = read_file(run() / "run.json", 1 << 20);
      there && *there == wanted && fs::exists(run() / "best.sotto"))
    return {};
  SOTTO_TRY(auto copy, AtomicDirectory::create(run(), true));
  for (const char* name : files_of_run) {
    if (!fs::exists(settings_.run / name)) continue;
    SOTTO_TRY(const std::string bytes, read_file(settings_.run / name, most_file_bytes));
    SOTTO_CHECK(write_file_atomically(copy.path() / name, bytes));
  }
  return copy.commit();
}

Result<std::optional<FollowedCampaign::Taken>> FollowedCampaign::look() {
  const auto now = steady_clock::now();
  if (now < next_) return std::optional<Taken>();
  next_ = now + settings_.between;
  SOTTO_TRY(auto network, transport::HttpTransport::create(settings_.coordinator));
  SOTTO_TRY(const std::string said, answered(network, {"GET", "/v1/status", {}, {}}));
  const auto status = nlohmann::json::parse(said, nullptr, false);
  if (!status.is_object()) return failed("the coordinator's status is none");
  Taken newest{status.value("version", ""), status.value("rounds_done", std::uint64_t{0})};
  if (newest.version.empty() || newest.rounds == 0 || newest.version == taken_) return std::optional<Taken>();
  SOTTO_TRY(const auto hash, rounds::digest_from_hex(newest.version, "the coordinator's version"));
  SOTTO_CHECK(take(hash));
  taken_ = newest.version;
  next_ = steady_clock::now() + settings_.between;  // taking it over takes its time
  return std::optional(std::move(newest));
}

Result<std::string> FollowedCampaign::fetch(transport::HttpTransport& network,
                                            const rounds::Digest& hash) const {
  SOTTO_TRY(std::string bytes, answered(network, device::blob_call(hash)));
  if (rounds::blob_hash(bytes) != hash)
    return failed("the coordinator sent other bytes than {} names", to_hex(hash));
  return bytes;
}

Status FollowedCampaign::take(const rounds::Digest& version) {
  SOTTO_TRY(auto network, transport::HttpTransport::create(settings_.coordinator));
  SOTTO_TRY(const std::string document, answered(network, device::campaign_call()));
  SOTTO_TRY(const auto campaign, rounds::open_campaign(document));
  if (settings_.operator_key && !campaign.is_signed_by(*settings_.operator_key))
    return failed("the campaign {} is not signed by the operator {}: nothing is taken over",
                  to_hex(campaign.hash), to_hex(*settings_.operator_key));
  SOTTO_TRY(const std::string bytes, fetch(network, version));
  SOTTO_TRY(const auto model, rounds::decode_model(bytes));
  const fs::path campaign_file = settings_.folder / "followed.campaign",
                 version_file = settings_.folder / "followed.version",
                 table_file = settings_.folder / "followed.items";
  const auto kept = read_file(table_file, rounds::BlobLimits::bytes);
  if (!kept || rounds::blob_hash(*kept) != model.table) {
    SOTTO_TRY(const std::string table, fetch(network, model.table));
    SOTTO_CHECK(write_file_atomically(table_file, table));
  }
  SOTTO_CHECK(write_file_atomically(campaign_file, document));
  SOTTO_CHECK(write_file_atomically(version_file, bytes));
  std::vector<std::string> words = {"adopt",     campaign_file.string(), "--run",   run().string(),
                                    "--version", version_file.string(),  "--table", table_file.string()};
  words.insert(words.end(), {"--data", settings_.data.string()});
  SOTTO_TRY(auto trainer, TrainerProcess::start(words));
  SOTTO_TRY(Frame frame, trainer.receive(TrainerProcess::Patience::until_interrupted));
  if (frame.kind != FrameKind::ready) return tl::unexpected(said_by_trainer(std::move(frame)));
  return {};
}

}  // namespace sotto::cli

#endif
