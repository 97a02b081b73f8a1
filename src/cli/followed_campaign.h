#pragma once
// A run whose parameters are those of a campaign: whenever the coordinator has a newer version, a copy of the
// run takes it over, and what serves that copy finds it trained on (cli/run_source.h).
//
// The copy lies beside what is served, the run itself stays as it is. Nothing is taken over that is about
// other items, words or sizes than the run. Version 0 is nobody's training: the run's own parameters stay
// until the first round is done. One owner.

#ifdef SOTTO_HAVE_NET

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/files.h"
#include "rounds/document.h"
#include "transport/http_transport.h"

namespace sotto::cli {

struct FollowSettings {
  net::HttpClientSettings coordinator;
  std::optional<rounds::IdentityKey> operator_key;  // who must have signed the campaign; none: a trial
  fs::path run, data;                               // data: empty: where the run was trained
  fs::path folder;                                  // of the copy and what it is made of
  std::chrono::seconds between{30};                 // looks at the coordinator
};

class FollowedCampaign {
 public:
  static Result<FollowedCampaign> open(FollowSettings settings);

  fs::path run() const { return settings_.folder / "followed"; }
  // Asks when it is due, and waits while the trainer takes a version over. Says which one: its hash and how
  // many rounds it is of; nothing: there is no newer one. An error leaves the copy as it is, and is met again
  // at the next look.
  struct Taken {
    std::string version;
    std::uint64_t rounds = 0;
  };
  Result<std::optional<Taken>> look();

 private:
  explicit FollowedCampaign(FollowSettings settings) : settings_(std::move(settings)) {}
  Status copy_run() const;
  Result<std::string> fetch(transport::HttpTransport& network, const rounds::Digest& hash) const;
  Status take(const rounds::Digest& version);

  FollowSettings settings_;
  std::chrono::steady_clock::time_point next_{};
  std::string taken_;
};

}  // namespace sotto::cli

#endif
