#pragma once
// What a device holds while it is open. Known to the files that implement Device, and to nobody else.

#include <memory>
#include <optional>

#include "base/random.h"
#include "device/device.h"
#include "device/history/history_store.h"
#include "device/query/query_mechanism.h"
#include "device/sdk/blind_ranking.h"
#include "device/sdk/device_ledger.h"
#include "device/sdk/log_watch.h"

namespace sotto::device {

// A pack and what is made from it once.
struct Installed {
  Installed(DevicePack given, std::string hash, UserModel made)
      : pack(std::move(given)), version(std::move(hash)), user_model(std::move(made)), reranker(pack) {}
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;
  const DevicePack pack;
  const std::string version;
  const UserModel user_model;
  const Reranker reranker;
};

// All files of a device, in its folder, readable by its owner alone.
namespace file_names {
inline constexpr std::string_view history = "history.sotto", pages = "impressions.sotto", rows = "rows.sotto",
                                  answers = "answers.sotto", pack = "pack.sotto", consent = "consent.sotto",
                                  enrolment = "enrolment.sotto", identity = "identity.sotto",
                                  log = "public-log.sotto", served_log = "served-log.sotto",
                                  items = "items.sotto";
}  // namespace file_names

struct Device::State {
  State(fs::path where, DeviceSettings wanted, DeviceEnvironment around, privacy::Ledger book,
        HistoryStore clicks, ImpressionStore shown, RowStore used, LogWatch watch);

  fs::path path_of(std::string_view name) const { return folder / name; }
  privacy::ClockReading now() const {
    return environment.clock ? environment.clock() : privacy::read_system_clocks();
  }
  // A pack becomes the installed one.
  Status adopt(std::string_view bytes, bool store);
  // That a pack is in the public log, where the settings demand that.
  Talk<Status> demand_logged(Exchange& exchange, std::string_view pack);
  // None: the budget is spent.
  Result<std::optional<PaidQuery>> ask(const ReadableHistory& readable);
  Talk<Status> ensure_guide(Exchange& exchange);
  Talk<Result<BlindRanking::Asked>> ask_blindly(Exchange& exchange, std::vector<float> user);
  // What the ledger would say to one more answer.
  Result<std::string> why_no_answer();
  // Reads consent, enrolment and key, as far as they are there.
  Status read_agreements();
  Status may_ask() const;
  Status may_train() const;
  // Of those that the settings demand and the host knows; none: all are met.
  std::optional<std::string> unmet_condition() const;
  Status forget_old();

  PageFilter page_filter() const;  // what was seen, and what its person does not want

  Talk<Result<bool>> refresh(Exchange& exchange);
  Talk<Result<Recommendations>> recommend(Exchange& exchange, std::size_t count);
  Talk<Status> prepare(Exchange& exchange);
  Talk<Status> enrol(Exchange& exchange, std::string token, rounds::OperatorKeys pinned);
  Talk<Result<Participation>> train(Exchange& exchange, std::function<bool()> cancelled);

  fs::path folder;
  DeviceSettings settings;
  DeviceEnvironment environment;
  SecureRandom secure;
  privacy::DeviceRandom random;
  SecretDraws secret_draws;
  privacy::Ledger ledger;
  HistoryStore history;
  ImpressionStore pages;
  RowStore rows;
  BlindRanking blind;
  LogWatch log;  // of the server that recommends
  std::optional<Consent> consent;
  std::shared_ptr<rounds::OperatorKeys> operator_keys;  // of the enrolment; rounds hold on to theirs
  std::shared_ptr<const secagg::Identity> identity;
  std::optional<PrivateQuery> query;
  std::shared_ptr<const Installed> installed;  // conversations hold on to theirs
  std::optional<QueryMechanism> mechanism;     // of the installed pack, made when first needed
};

// Deletes a file of the device and what an interrupted write left of it.
Status remove_file(const fs::path& path);

}  // namespace sotto::device
