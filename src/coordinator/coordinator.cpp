#include "coordinator/coordinator.h"

#include "base/chain_hash.h"
#include "base/log.h"

namespace sotto::coordinator {

namespace {

constexpr std::string_view lease_name = "coordinator";
constexpr std::chrono::milliseconds look_again{200};

UtcTime wall_clock() {
  return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
}

Result<Lease> acquire(Store& store, const CoordinatorSettings& settings) {
  while (true) {
    auto lease = store.acquire(lease_name, settings.node, wall_clock(), settings.lease);
    if (lease || lease.error().kind != ErrorKind::conflict || !settings.waits_for_lease ||
        !settings.waits_for_lease())
      return lease;
    std::this_thread::sleep_for(look_again);
  }
}

}  // namespace

Result<std::unique_ptr<Coordinator>> Coordinator::start(const CoordinatorSettings& settings,
                                                        const rounds::Identity& key, Folding& folding) {
  // Before there is a store: a folder belongs to the key that it was made with.
  SOTTO_CHECK(CampaignRun::open(settings.campaign, key, wall_clock()));
  SOTTO_TRY(auto store, open_store(settings.store, key.public_key()));
  return start(settings, std::move(store), key, folding);
}

Result<std::unique_ptr<Coordinator>> Coordinator::start(const CoordinatorSettings& settings,
                                                        std::unique_ptr<Store> store,
                                                        const rounds::Identity& key, Folding& folding) {
  std::unique_ptr<Coordinator> made(new Coordinator());
  SOTTO_TRY(const auto campaign, rounds::open_campaign(settings.campaign));
  made->key_ = rounds::Identity::from_seed(key.seed());
  made->store_ = std::move(store);
  SOTTO_TRY(made->lease_, acquire(*made->store_, settings));
  made->lease_time_ = settings.lease;
  made->folding_ = &folding;
  SOTTO_TRY(made->run_,
            CampaignRun::begin(
                settings.campaign, rounds::OperatorKeys(settings.operator_key, settings.recovery_key),
                settings.key_changes,
                {made->key_, *made->store_, made->lease_.fence, folding, made->floor_, wall_clock,
                 [raw = made.get()](const Digest& hash, std::string bytes) {
                   raw->blobs_.put(hash, std::move(bytes), BlobShelf::Stays::while_new);
                 },
                 [raw = made.get()](const Digest& hash, std::string bytes) {
                   raw->blobs_.put(hash, std::move(bytes), BlobShelf::Stays::always);
                 }},
                settings.run));
  const std::uint64_t largest = campaign.campaign.max_upload_bytes + net::Router::default_body_limit;
  made->api_ = std::make_unique<CoordinatorApi>(
      *made->run_, made->floor_, *made->store_, made->blobs_, made->metrics_,
      CoordinatorApiSettings{settings.operator_token, made->run_->operator_keys(), largest,
                             settings.trial_token},
      wall_clock);
  if (!settings.serving_list.empty()) made->serving_ = std::make_unique<ServingWatch>(settings.serving_list);
  made->dashboard_ = std::make_unique<DashboardApi>(
      *made->run_, *made->store_, [raw = made.get()] { return raw->api_->status_text(); },
      made->serving_.get());
  net::Router router;
  made->api_->add_routes(router);
  made->dashboard_->add_routes(router);
  SOTTO_TRY(auto server, net::HttpServer::start(settings.http, std::move(router), made->metrics_));
  made->server_.emplace(std::move(server));
  made->thread_ = std::thread([raw = made.get()] {
    Status ended = raw->run_->run();
    const std::lock_guard lock(raw->outcome_mutex_);
    raw->outcome_ = std::move(ended);
  });
  return made;
}

std::optional<Status> Coordinator::outcome() const {
  const std::lock_guard lock(outcome_mutex_);
  return outcome_;
}

Status Coordinator::tick() {
  auto renewed = store_->renew(lease_, wall_clock(), lease_time_);
  if (renewed) lease_ = *renewed;
  Status stored = renewed ? Status{} : Status(tl::unexpected(renewed.error()));
  // A full disk or a lost connection passes; whoever took the lease meanwhile shuts this node out by its
  // fence.
  if (!stored && stored.error().kind != ErrorKind::failed) return stored;
  if (!stored && was_stored_) warn("{}", stored.error().message);
  if (stored && !was_stored_) info("the store takes writes again");
  was_stored_ = stored.has_value();
  api_->observe(was_stored_);
  dashboard_->observe();
  return {};
}

void Coordinator::stop() {
  floor_.drain();
  floor_.stop();
  if (folding_ != nullptr) folding_->let_go();
  if (thread_.joinable()) thread_.join();
  if (dashboard_) dashboard_->close();
  server_.reset();
  if (store_ && run_) static_cast<void>(store_->release(lease_));
}

}  // namespace sotto::coordinator
