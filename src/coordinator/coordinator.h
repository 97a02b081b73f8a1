#pragma once
// Start here: the whole coordinator of one campaign. A store, a trainer, HTTP in front, and one thread that
// takes the campaign from round to round.
//
// start() returns when the port is open and the version that was published last is handed out; the trainer is
// begun on the campaign's thread, however long it takes. Of several nodes on one store the others wait, and
// go on when the one that coordinates is gone. tick() is called every second or so by the owner's loop: it
// keeps the lease, and an error of it says that another node has it. After drain() there is no further order;
// a round for which devices may have been charged goes on until is_drained(). stop() (or the destructor)
// answers the requests that have arrived and ends the round: what devices were charged for it is lost, no
// version is. One owner.

#include <optional>
#include <thread>

#include "coordinator/http/coordinator_api.h"
#include "coordinator/http/dashboard_api.h"

namespace sotto::coordinator {

struct CoordinatorSettings {
  std::string store;                   // a folder, or postgresql://…
  std::string campaign;                // the signed document
  rounds::IdentityKey operator_key{};  // as devices were shipped with it
  std::optional<rounds::IdentityKey> recovery_key;
  std::vector<std::string> key_changes;      // documents, in their order; entered in the log
  std::string operator_token;                // of the admin API; empty: it is off
  std::function<std::string()> trial_token;  // coordinator_api.h
  std::string node = "coordinator";          // among several on one store
  std::chrono::seconds lease{30};            // that a node coordinates without having said that it is there
  // Asked again and again while another node holds the lease: whether to wait for it. None: not to.
  std::function<bool()> waits_for_lease;
  fs::path serving_list;  // addresses of servers that recommend (serving_watch.h); empty: none is looked at
  CampaignRunSettings run;
  net::HttpServerSettings http;
};

class Coordinator {
 public:
  // `folding` must outlive this.
  static Result<std::unique_ptr<Coordinator>> start(const CoordinatorSettings& settings,
                                                    const rounds::Identity& key, Folding& folding);
  // The same with a store that is open, which settings.store then does not name.
  static Result<std::unique_ptr<Coordinator>> start(const CoordinatorSettings& settings,
                                                    std::unique_ptr<Store> store, const rounds::Identity& key,
                                                    Folding& folding);
  ~Coordinator() { stop(); }
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // What ended the campaign's thread, once it has ended; a campaign that is finished ends without an error,
  // and its versions go on being handed out.
  std::optional<Status> outcome() const;
  Status tick();
  void drain() { floor_.drain(); }
  bool is_drained() const { return floor_.is_draining() && !run_->has_round(); }
  void stop();

  std::string url() const { return server_->url(); }
  CampaignProgress progress() const { return run_->progress(); }
  const rounds::OpenedCampaign& campaign() const { return run_->campaign(); }

 private:
  Coordinator() = default;

  rounds::Identity key_ = rounds::Identity::from_seed(secagg::Key());
  std::unique_ptr<Store> store_;
  Lease lease_;
  std::chrono::seconds lease_time_{};
  bool was_stored_ = true;  // at the last tick
  RoundFloor floor_;
  Folding* folding_ = nullptr;
  BlobShelf blobs_;
  net::MetricsRegistry metrics_;
  std::unique_ptr<CampaignRun> run_;
  std::unique_ptr<CoordinatorApi> api_;
  std::unique_ptr<ServingWatch> serving_;
  std::unique_ptr<DashboardApi> dashboard_;
  std::optional<net::HttpServer> server_;
  std::thread thread_;
  mutable std::mutex outcome_mutex_;
  std::optional<Status> outcome_;
};

}  // namespace sotto::coordinator
