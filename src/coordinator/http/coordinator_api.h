#pragma once
// The routes of a coordinator: for devices as rounds/round_messages.h describes them, for people as JSON.
//
//   GET  /v1/status              how the campaign stands: counts and times, nothing about a device
//   GET  /v1/campaign            the campaign, as the operator signed it
//   GET  /v1/log/head            the signed head of the log
//   POST /v1/log/cosignature     a witness's word about it
//   POST /v1/admin/pause|resume  with the operator's token; also drain, and roll-back?version=N&why=TEXT,
//   GET  /v1/admin/actions       revoke?device=KEY
//   GET  /v1/admin/left-out      the keys of devices that spoiled a group, and in which round
//   GET  /v1/trial               a token for anybody, where the coordinator only tries things out
//   GET  /healthz, /readyz, /metrics, /openapi.json
//
// A device is known by the key that signs its posts. Key and signature are checked before a body is read: the
// signature is over its hash. What strangers may send (enrolments, cosignatures) is checked before it waits
// for the disk, so that they cannot keep the operator waiting. Nothing a device sends is logged. Everything
// it is given must outlive the object, and the object the server that has its routes. Thread-safe.

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
  rounds::OperatorKeys operator_keys;  // that sign enrolment tokens
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
  // Brings the gauges up to date. stored: does the store take writes? /healthz says so.
  void observe(bool stored);

 private:
  void add_device_routes(net::Router& router);
  void add_people_routes(net::Router& router);
  void add_admin_routes(net::Router& router);

  net::HttpResponse offer(const net::HttpRequest& request) const;
  net::HttpResponse log_page(const net::HttpRequest& request) const;
  void enrol(net::HttpRequest&& request, net::HttpReply reply);
  // On a thread of its own, because it waits for the disk.
  void later(net::HttpRequest&& request, net::HttpReply reply,
             std::function<net::HttpResponse(const net::HttpRequest&)> answer);
  void check_in(net::HttpRequest&& request, net::HttpReply reply);
  void post(net::HttpRequest&& request, net::HttpReply reply);
  std::optional<std::uint64_t> count_enrolled() const;
  void cosign(net::HttpRequest&& request, net::HttpReply reply);

  // Unless the head is signed by a device that is enrolled.
  std::optional<net::HttpResponse> refuse_unknown(const net::HttpRequest& head);
  // Of a request whose head was not refused: is the body the one that was signed?
  static Result<rounds::IdentityKey> signer_of(const net::HttpRequest& request);
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
  net::Gauge& groups_implausible_;
  net::Gauge& left_out_;
  net::Gauge& auc_;
  net::Gauge& auc_noise_;
  net::Gauge& fell_;
  net::Gauge& store_writable_;
  std::atomic<bool> is_stored_ = true;
  // Counted at most once a second, however many ask.
  mutable std::mutex count_mutex_;
  mutable std::optional<std::uint64_t> count_;
  mutable std::chrono::steady_clock::time_point counted_at_{};
  // Devices that were asked about lately, so that the store is not asked for every message.
  std::mutex known_mutex_;
  std::unordered_map<std::string, std::chrono::steady_clock::time_point> known_;
  net::BackgroundWorker writes_;  // last: its tasks use the rest
};

}  // namespace sotto::coordinator
