#ifdef SOTTO_HAVE_NET

#include "cli/campaign_trial.h"

#include <chrono>

#include "cli/key_files.h"
#include "cli/token_files.h"

namespace sotto::cli {

namespace {

Result<rounds::Identity> key_in(const fs::path& file) {
  if (!fs::exists(file)) SOTTO_CHECK(write_key_files(file));
  return read_secret_key(file);
}

rounds::UtcTime this_second() {
  return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace

Result<TrialCampaign> trial_campaign(const fs::path& draft, const fs::path& store) {
  const fs::path folder = store / "trial";
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) return failed("cannot create {}: {}", folder.string(), problem.message());
  SOTTO_TRY(auto operator_key, key_in(folder / "operator.key"));
  SOTTO_TRY(auto coordinator_key, key_in(folder / "coordinator.key"));
  SOTTO_TRY(const std::string text, read_file(draft, 1 << 17));
  CampaignDraft read;
  SettingsTable table;
  read.bind(table);
  SOTTO_CHECK(table.load_toml(draft));
  const fs::path kept_draft = folder / "draft.toml", signed_file = folder / "campaign.sotto";
  if (fs::exists(signed_file)) {
    SOTTO_TRY(const std::string before, read_file(kept_draft, 1 << 17));
    if (before != text)
      return bad_input(
          "{} was begun with another draft than {}: name another store, or sign campaigns with keys of "
          "your own ('sotto campaign sign')",
          store.string(), draft.string());
    SOTTO_TRY(std::string document, read_file(signed_file, 1 << 17));
    return TrialCampaign{std::move(document), std::move(operator_key), std::move(coordinator_key), read.data};
  }
  SOTTO_TRY(rounds::Campaign campaign, read.campaign());
  campaign.coordinator = coordinator_key.public_key();
  SOTTO_TRY(std::string document, rounds::sign_campaign(campaign, operator_key));
  SOTTO_CHECK(write_file_atomically(kept_draft, text));
  SOTTO_CHECK(write_file_atomically(signed_file, document));
  return TrialCampaign{std::move(document), std::move(operator_key), std::move(coordinator_key), read.data};
}

std::string trial_token(const rounds::Identity& operator_key) {
  return new_token(true, this_second() + std::chrono::days(1), operator_key);
}

}  // namespace sotto::cli

#endif
