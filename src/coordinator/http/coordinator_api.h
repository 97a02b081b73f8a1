#pragma once
// The routes of a coordinator: for devices as rounds/round_messages.h describes them, for people as JSON.
//
//   GET  /v1/status              how the campaign stands: counts and times, nothing about a device
//   GET  /v1/log/head            the signed head of the log
//   POST /v1/log/cosignature     a witness's word about it
//   POST /v1/admin/pause|resume  with the operator's token; also drain, and roll-back?version=N&why=TEXT,
//   GET  /v1/admin/actions       revoke?device=KEY
//   GET  /v1/trial               a token for anybody, where the coordinator only tries things out
//   GET  /healthz, /readyz, /metrics, /openapi.json
//
// A device is known by the key that signs its posts, which is checked before their bodies are read, and the
// signature before anything is done. Nothing a device sends is logged. Everything it is given must outlive
// the object, and the object the server that has its routes. Thread-safe.

#include <array>
#include <chrono>
#include <unordered_map>

#include "coordinator/campaign_run.h"
#include "coordinator/http/blob_shelf.h"
#include "net/background_worker.h"
#include "net/http_server.h"

namespace sotto::coordinator {

struct CoordinatorApiSettings {
  std::string operator_token;          // of the admin routes; empty: they are refused
  rounds::IdentityKey operator_key{};  // that signs enrolment tokens
  std::uint64_t most_message_bytes = 0;
  // To try it out on one machine: hands an enrolment token to whoever asks. Empty: nobody gets one here.
  std::function<std::string()> trial_token;
};

// The routes, described for machines (OpenAPI 3); in open_api.cpp.
std::string_view open_api_document();

class CoordinatorApi {
 public:
  CoordinatorApi(CampaignRun& run, RoundFloor& floor, Store& store, BlobShelf& blobs,
                 net::MetricsRegistry& metrics, CoordinatorApiSettings settings, CampaignRun::Clock clock);

  void add_routes(net::Router& router);
  std::string status_text() const;  // of /v1/status
  // Brings the gauges up to date.
  void observe();
  // From now on no device is let in; what runs goes on to its end.
  void drain() { draining_ = true; }
  bool is_draining() const { return draining_; }

 private:
  void add_device_routes(net::Router& router);
  void add_people_routes(net::Router& router);
  void add_admin_routes(net::Router& router);

  net::HttpResponse offer(const net::HttpRequest& request) const;
  net::HttpResponse log_page(const net::HttpRequest& request) const;
  net::HttpResponse enrol(const net::HttpRequest& request);
  // On a thread of its own, because it waits for the disk.
  void later(net::HttpRequest&& request, net::HttpReply reply,
             std::function<net::HttpResponse(const net::HttpRequest&)> answer);
  void check_in(net::HttpRequest&& request, net::HttpReply reply);
  void post(net::HttpRequest&& request, net::HttpReply reply);
  net::HttpResponse cosign(const net::HttpRequest& request);

  // Whose head this is, if the device is enrolled.
  std::optional<net::HttpResponse> refuse_unknown(const net::HttpRequest& head);
  Result<rounds::IdentityKey> signer_of(const net::HttpRequest& request) const;
  Result<bool> is_enrolled(const rounds::IdentityKey& device);
  // Why a request of a device was refused.
  enum class Refusal : std::uint8_t { token, unknown_device, signature, message, conflict, late };
  void count(Refusal why) { refused_[static_cast<std::size_t>(why)]->add(); }
  GiveAnswer answering(const net::HttpRequest& request, net::HttpReply reply);
  net::HttpResponse acted(const net::HttpRequest& request, const Status& done);

  CampaignRun& run_;
  RoundFloor& floor_;
  Store& store_;
  BlobShelf& blobs_;
  net::MetricsRegistry& metrics_;
  const CoordinatorApiSettings settings_;
  const CampaignRun::Clock clock_;
  net::Counter& enrolled_;
  net::Counter& check_ins_;
  net::Counter& messages_;
  std::array<net::Counter*, 6> refused_{};  // by Refusal
  net::Gauge& rounds_done_;
  net::Gauge& waiting_;
  net::Gauge& groups_failed_;
  std::atomic<bool> draining_ = false;
  // Devices that were asked about lately, so that the store is not asked for every message.
  std::mutex known_mutex_;
  std::unordered_map<std::string, std::chrono::steady_clock::time_point> known_;
  net::BackgroundWorker writes_;  // last: its tasks use the rest
};

}  // namespace sotto::coordinator
