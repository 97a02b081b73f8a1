#ifdef SOTTO_HAVE_NET

#include "cli/starting_model.h"

#include <nlohmann/json.hpp>

#include "base/chain_hash.h"
#include "base/log.h"
#include "cli/checkpoint_layout.h"
#include "coordinator/store/store.h"
#include "rounds/campaign.h"
#include "rounds/model_version.h"

namespace sotto::cli {

namespace {

// Whether a coordinator on this store goes on from a version of the campaign.
Result<bool> has_begun(const std::string& store, const rounds::Digest& campaign) {
  const bool is_folder = store.find("://") == std::string::npos;
  if (is_folder && !fs::exists(fs::path(store) / "store.sqlite")) return false;
  auto opened = coordinator::open_store_to_read(store);
  if (!opened)
    return is_folder ? Result<bool>(tl::unexpected(std::move(opened).error())) : Result<bool>(false);
  SOTTO_TRY(const auto version, (*opened)->current_version(campaign));
  return version.has_value();
}

struct LastVersion {
  std::string checkpoint;
  rounds::Digest items{};
};

// That the store's newest campaign trains on.
Result<LastVersion> last_version(const std::string& from) {
  SOTTO_TRY(const auto store, coordinator::open_store_to_read(from));
  SOTTO_TRY(const auto campaigns, store->campaigns());
  if (campaigns.empty())
    return bad_input("the store {} has no campaign, and so no version to begin with", from);
  SOTTO_TRY(const auto version, store->current_version(campaigns.back().hash));
  if (!version || !version->checkpoint)
    return bad_input("no round of the last campaign in {} is done: there is no version to begin with", from);
  LastVersion last;
  SOTTO_TRY(last.checkpoint, store->blob(*version->checkpoint));
  SOTTO_TRY(const std::string model, store->blob(version->model));
  SOTTO_TRY(const auto decoded, rounds::decode_model(model));
  last.items = decoded.table;
  return last;
}

Status check_seed(const fs::path& run, std::uint64_t seed) {
  SOTTO_TRY(const std::string description, read_file(run / "run.json", 1 << 20));
  const auto parsed = nlohmann::json::parse(description, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("seed") || !parsed["seed"].is_number_unsigned())
    return bad_input("{} does not say the seed it was trained with: was the folder changed by hand?",
                     (run / "run.json").string());
  if (const auto trained = parsed["seed"].get<std::uint64_t>(); trained != seed)
    return bad_input(
        "{} was trained with seed {}, by which its items have their vectors, and this is seed {}: "
        "start the coordinator with --seed {}",
        run.string(), trained, seed, trained);
  return {};
}

Status check_layout(const fs::path& checkpoint, const std::string& from, const rounds::Digest& layout) {
  SOTTO_TRY(const std::string found, layout_of_checkpoint(checkpoint));
  if (rounds::layout_hash(found) == layout) return {};
  return bad_input(
      "the campaign is for numbers laid out as {}, and {} has '{}' ({}): begin with a model of the recipe, "
      "the "
      "settings and the data that the campaign was drafted for",
      to_hex(layout), from, found, to_hex(rounds::layout_hash(found)));
}

}  // namespace

Result<StartingModel> starting_model(const std::string& from, const std::string& campaign,
                                     const std::string& store, const fs::path& work, std::uint64_t seed) {
  SOTTO_TRY(const auto opened, rounds::open_campaign(campaign));
  if (opened.campaign.second)
    return bad_input("'{}' makes all its numbers of the sums of one campaign: leave out --begin-with",
                     opened.campaign.recipe);
  SOTTO_TRY(const bool goes_on, has_begun(store, opened.hash));
  if (goes_on) {
    info("the campaign has a version already, and goes on from it, not from {}", from);
    return StartingModel();
  }
  if (fs::exists(fs::path(from) / "run.json")) {
    StartingModel model{fs::absolute(fs::path(from) / "best.sotto"), std::nullopt};
    if (!fs::exists(model.checkpoint))
      return bad_input("{} has no trained model yet: continue it with 'sotto train --resume'", from);
    SOTTO_CHECK(check_layout(model.checkpoint, from, opened.campaign.layout));
    SOTTO_CHECK(check_seed(from, seed));
    return model;
  }
  if (from.find("://") == std::string::npos && !fs::exists(fs::path(from) / "store.sqlite"))
    return bad_input(
        "--begin-with {}: neither a run of 'sotto train' nor the store of a coordinator is there", from);
  SOTTO_TRY(const LastVersion last, last_version(from));
  const bool is_new = !fs::exists(work);
  std::error_code problem;
  fs::create_directories(work, problem);
  if (problem) return failed("cannot create {}: {}", work.string(), problem.message());
  StartingModel model{work / "begin.sotto", last.items};
  SOTTO_CHECK(write_file_atomically(model.checkpoint, last.checkpoint));
  if (Status same = check_layout(model.checkpoint, from, opened.campaign.layout); !same) {
    fs::remove(model.checkpoint, problem);
    if (is_new) fs::remove(work, problem);
    return tl::unexpected(std::move(same).error());
  }
  return model;
}

}  // namespace sotto::cli

#endif
