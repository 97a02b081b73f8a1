#include "coordinator/http/coordinator_api.h"

#include <cmath>

#include "base/chain_hash.h"
#include "base/utf8.h"
#include "coordinator/http/desk_json.h"
#include "net/bearer_token.h"
#include "net/http_text.h"
#include "net/negotiation.h"
#include "rounds/enrolment.h"

namespace sotto::coordinator {

namespace {

using net::HttpMethod;
using net::HttpReply;
using net::HttpRequest;
using net::HttpResponse;
using std::chrono::steady_clock;

constexpr std::string_view binary = "application/octet-stream";
constexpr std::size_t waiting_writes = 4096;
constexpr std::size_t most_known = 1'000'000;
constexpr std::size_t most_reason_bytes = 500;
constexpr std::chrono::seconds known_for{60};

HttpResponse bytes_response(std::string body, int status = 200) {
  HttpResponse response;
  response.status = status;
  response.content_type = binary;
  response.headers.emplace_back("Cache-Control", "no-store");
  response.body = std::move(body);
  return response;
}

HttpResponse problem(const HttpRequest& request, const Error& error) {
  const int status = error.kind == ErrorKind::bad_input ? 400 : error.kind == ErrorKind::conflict ? 409 : 500;
  return net::error_response(request, status, error.message);
}

HttpResponse response_to(net::BodyForm form, const DeskAnswer& answer) {
  switch (answer.kind) {
    case DeskAnswer::Kind::message:
    case DeskAnswer::Kind::done:
      return bytes_response(answer.body);
    case DeskAnswer::Kind::wait:
      return bytes_response({}, 202);
    case DeskAnswer::Kind::conflict:
      return net::error_response(form, 409, answer.why);
    case DeskAnswer::Kind::refused:
      return net::error_response(form, 403, answer.why);
    case DeskAnswer::Kind::over:
      break;
  }
  return net::error_response(form, 410, answer.why);
}

// By Refusal.
constexpr std::array<std::string_view, 6> refusal_names = {"token",   "unknown device", "signature",
                                                           "message", "conflict",       "late"};

}  // namespace

// What answers the request when it is known, from whichever thread.
GiveAnswer CoordinatorApi::answering(const HttpRequest& request, HttpReply reply) {
  const auto later = std::make_shared<HttpReply>(std::move(reply));
  const auto answer_it = [this, later, form = net::wanted_form(request)](const DeskAnswer& answer) {
    if (answer.kind == DeskAnswer::Kind::refused) count(Refusal::message);
    if (answer.kind == DeskAnswer::Kind::conflict) count(Refusal::conflict);
    if (answer.kind == DeskAnswer::Kind::over) count(Refusal::late);
    std::move (*later)(response_to(form, answer));
  };
  return {answer_it, [later] { return later->is_live(); }};
}

CoordinatorApi::CoordinatorApi(CampaignRun& run, RoundFloor& floor, Store& store, BlobShelf& blobs,
                               net::MetricsRegistry& metrics, CoordinatorApiSettings settings,
                               CampaignRun::Clock clock)
    : run_(run),
      floor_(floor),
      store_(store),
      blobs_(blobs),
      metrics_(metrics),
      settings_(std::move(settings)),
      clock_(std::move(clock)),
      enrolled_(metrics.counter("sotto_enrolments_total", "Devices that enrolled, since start")),
      check_ins_(metrics.counter("sotto_check_ins_total", "Check-ins of enrolled devices")),
      messages_(metrics.counter("sotto_round_messages_total", "Messages of rounds that were signed rightly")),
      rounds_done_(metrics.gauge("sotto_rounds_done", "Rounds of the campaign that are folded")),
      waiting_(metrics.gauge("sotto_devices_waiting", "Devices that wait for a group")),
      groups_failed_(metrics.gauge("sotto_groups_failed", "Groups of this round that failed")),
      groups_implausible_(metrics.gauge("sotto_groups_implausible",
                                        "Groups of this round whose sums no honest devices could give")),
      left_out_(metrics.gauge("sotto_devices_left_out",
                              "Devices that spoiled a group and are left out of this campaign")),
      auc_(metrics.gauge("sotto_version_auc_millionths",
                         "AUC of the version that devices measured last, 0: none was")),
      auc_noise_(metrics.gauge("sotto_version_auc_noise_millionths", "Standard error of its noise")),
      fell_(metrics.gauge("sotto_version_fell", "1 while that version ranks worse than one before it")),
      store_writable_(metrics.gauge("sotto_store_writable", "1 while the store takes what must be kept")),
      writes_(waiting_writes, net::BackgroundWorker::AtEnd::finish) {
  for (std::size_t i = 0; i < refused_.size(); ++i)
    refused_[i] = &metrics.counter("sotto_refused_devices_total", "Requests that were refused, by reason",
                                   {{"reason", std::string(refusal_names[i])}});
}

void CoordinatorApi::observe(bool stored) {
  is_stored_ = stored;
  store_writable_.set(stored ? 1 : 0);
  const DeskCounts counts = floor_.counts();
  const CampaignProgress progress = run_.progress();
  rounds_done_.set(static_cast<std::int64_t>(progress.rounds_done));
  if (progress.evaluation) {
    constexpr double million = 1e6;
    auc_.set(std::llround(progress.evaluation->auc * million));
    auc_noise_.set(std::llround(progress.evaluation->noise * million));
  }
  fell_.set(progress.alert.empty() ? 0 : 1);
  waiting_.set(static_cast<std::int64_t>(counts.checked_in));
  groups_failed_.set(static_cast<std::int64_t>(counts.groups_failed));
  groups_implausible_.set(static_cast<std::int64_t>(counts.groups_implausible));
  left_out_.set(static_cast<std::int64_t>(counts.devices_left_out));
}

void CoordinatorApi::add_routes(net::Router& router) {
  add_device_routes(router);
  add_people_routes(router);
  add_admin_routes(router);
}

void CoordinatorApi::add_device_routes(net::Router& router) {
  router.add(HttpMethod::get, "/v1/campaign",
             [this](const HttpRequest&) { return bytes_response(run_.campaign_document()); });
  router.add(HttpMethod::get, "/v1/order", [this](const HttpRequest& request) { return offer(request); });
  router.add(HttpMethod::get, "/v1/log", [this](const HttpRequest& request) { return log_page(request); });
  router.add(HttpMethod::get, "/v1/blob/{hash}",
             [this](const HttpRequest& request) { return blobs_.respond(request); });
  router.add(HttpMethod::post, "/v1/enrol",
             [this](HttpRequest&& request, HttpReply reply) { enrol(std::move(request), std::move(reply)); });
  const auto enrolled = [this](const HttpRequest& head) { return refuse_unknown(head); };
  router.add(
      HttpMethod::post, "/v1/checkin",
      [this](HttpRequest&& request, HttpReply reply) { check_in(std::move(request), std::move(reply)); },
      net::Router::default_body_limit, enrolled);
  router.add(
      HttpMethod::post, "/v1/rounds/{room}/{phase}",
      [this](HttpRequest&& request, HttpReply reply) { post(std::move(request), std::move(reply)); },
      settings_.most_message_bytes, enrolled);
}

void CoordinatorApi::later(HttpRequest&& request, HttpReply reply,
                           std::function<HttpResponse(const HttpRequest&)> answer) {
  const net::BodyForm form = net::wanted_form(request);
  const auto asked = std::make_shared<HttpRequest>(std::move(request));
  const auto given = std::make_shared<HttpReply>(std::move(reply));
  if (writes_.submit([asked, given, answer = std::move(answer)] { std::move (*given)(answer(*asked)); }))
    return;
  HttpResponse busy = net::error_response(form, 503, "too many wait already: come back later");
  busy.headers.emplace_back("Retry-After", "30");
  std::move (*given)(std::move(busy));
}

HttpResponse CoordinatorApi::offer(const HttpRequest& request) const {
  const auto open = floor_.is_draining() ? nullptr : run_.offer();
  HttpResponse response = open ? bytes_response(open->offer)
                               : net::error_response(request, 404, "no round is open: come back later");
  if (const auto come_back = run_.come_back(count_enrolled().value_or(0)))
    response.headers.emplace_back(std::string(rounds::come_back_header), to_text(*come_back));
  return response;
}

HttpResponse CoordinatorApi::log_page(const HttpRequest& request) const {
  const auto from = net::query_number(request.query, "from");
  if (!from) return problem(request, from.error());
  return bytes_response(encode(run_.log_page(*from)));
}

void CoordinatorApi::enrol(HttpRequest&& request, HttpReply reply) {
  const auto enrolment = rounds::decode_enrolment(request.body);
  if (!enrolment) return std::move(reply)(problem(request, enrolment.error()));
  const UtcTime now = clock_();
  const auto token = rounds::check_enrolment(*enrolment, settings_.operator_keys, now);
  if (!token) {
    count(Refusal::token);
    return std::move(reply)(net::error_response(request, 403, token.error().message));
  }
  later(std::move(request), std::move(reply),
        [this, checked = Enrolment{enrolment->device, token->hash, now}](const HttpRequest& asked) {
          const auto stored = store_.enrol(checked);
          if (!stored) return problem(asked, stored.error());
          enrolled_.add();
          return bytes_response(std::string(as_text(run_.campaign().campaign.coordinator)));
        });
}

Result<bool> CoordinatorApi::is_enrolled(const rounds::IdentityKey& device) {
  const std::string key(as_text(device));
  const auto now = steady_clock::now();
  {
    const std::lock_guard lock(known_mutex_);
    if (const auto found = known_.find(key); found != known_.end() && now < found->second) return true;
  }
  SOTTO_TRY(const auto enrolled, store_.are_enrolled(std::span(&device, 1)));
  if (!enrolled.front()) return false;
  const std::lock_guard lock(known_mutex_);
  if (known_.size() >= most_known) known_.clear();
  known_[key] = now + known_for;
  return true;
}

std::optional<HttpResponse> CoordinatorApi::refuse_unknown(const HttpRequest& head) {
  const auto device = rounds::digest_from_hex(head.header(rounds::device_header), rounds::device_header);
  if (!device) return problem(head, device.error());
  const auto enrolled = is_enrolled(*device);
  if (!enrolled) return net::error_response(head, 503, "devices cannot be looked up now: come back later");
  if (!*enrolled) {
    count(Refusal::unknown_device);
    return net::error_response(head, 403, "this device is not enrolled, or was revoked");
  }
  const auto signature = rounds::signature_from_hex(head.header(rounds::signature_header));
  if (!signature) return problem(head, signature.error());
  const auto body = rounds::digest_from_hex(head.header(rounds::body_header), rounds::body_header);
  if (!body) return problem(head, body.error());
  if (rounds::verify(*signature, rounds::request_statement(net::name(head.method), head.path, *body),
                     *device))
    return std::nullopt;
  count(Refusal::signature);
  return net::error_response(head, 400, "the signature of this request is not by the device that it names");
}

Result<rounds::IdentityKey> CoordinatorApi::signer_of(const HttpRequest& request) {
  SOTTO_TRY(const auto body,
            rounds::digest_from_hex(request.header(rounds::body_header), rounds::body_header));
  if (rounds::blob_hash(request.body) != body)
    return bad_input("the body of this request is not the one that its device has signed");
  return rounds::digest_from_hex(request.header(rounds::device_header), rounds::device_header);
}

void CoordinatorApi::check_in(HttpRequest&& request, HttpReply reply) {
  const auto device = signer_of(request);
  const auto asked = rounds::decode_check_in(request.body);
  if (!device || !asked) {
    if (!device) count(Refusal::signature);
    return std::move(reply)(problem(request, device ? asked.error() : device.error()));
  }
  check_ins_.add();
  floor_.check_in(*device, asked->order, answering(request, std::move(reply)));
}

void CoordinatorApi::post(HttpRequest&& request, HttpReply reply) {
  const auto device = signer_of(request);
  const auto room = rounds::digest_from_hex(request.parameter("room"), "a group");
  if (!device || !room) {
    if (!device) count(Refusal::signature);
    return std::move(reply)(problem(request, device ? room.error() : device.error()));
  }
  messages_.add();
  GiveAnswer answer = answering(request, std::move(reply));
  floor_.post(*device, *room, std::move(request.body), std::move(answer));
}

void CoordinatorApi::add_people_routes(net::Router& router) {
  router.add(HttpMethod::get, "/v1/status",
             [this](const HttpRequest&) { return net::json_response(status_text()); });
  router.add(HttpMethod::get, "/v1/log/head",
             [this](const HttpRequest&) { return bytes_response(encode(run_.head())); });
  router.add(HttpMethod::post, "/v1/log/cosignature", [this](HttpRequest&& request, HttpReply reply) {
    cosign(std::move(request), std::move(reply));
  });
  if (settings_.trial_token)
    router.add(HttpMethod::get, "/v1/trial", [this](const HttpRequest&) {
      return net::json_response(nlohmann::json{{"operator_key", to_hex(settings_.operator_keys.current())},
                                               {"token", to_hex(rounds::as_bytes(settings_.trial_token()))}}
                                    .dump());
    });
  router.add(HttpMethod::get, "/readyz", [this](const HttpRequest& request) {
    if (floor_.is_draining()) return net::error_response(request, 503, "draining");
    if (run_.progress().version.empty())
      return net::error_response(request, 503, "the first version is being made");
    if (const Status well = store_.check(); !well)
      return net::error_response(request, 503, "the store does not answer: the log says why");
    return net::json_response(R"({"ready":true})");
  });
  const auto document = std::make_shared<const net::PublishedBody>(std::string(open_api_document()),
                                                                   "coordinator-1", net::json_type, 3);
  router.add(HttpMethod::get, "/openapi.json",
             [document](const HttpRequest& request) { return document->respond(request); });
  net::add_operator_routes(router, metrics_, [this]() -> Status {
    if (is_stored_) return {};
    return failed("nothing can be kept in the store now: the log says why");
  });
}

std::optional<std::uint64_t> CoordinatorApi::count_enrolled() const {
  const std::lock_guard lock(count_mutex_);
  const auto now = steady_clock::now();
  if (count_ && now < counted_at_ + std::chrono::seconds(1)) return count_;
  counted_at_ = now;
  if (const auto counted = store_.count_enrolled()) count_ = *counted;
  return count_;
}

std::string CoordinatorApi::status_text() const {
  const CampaignProgress progress = run_.progress();
  const rounds::Campaign& campaign = run_.campaign().campaign;
  nlohmann::json body = {{"state", progress.state},
                         {"campaign", to_hex(run_.campaign().hash)},
                         {"recipe", campaign.recipe},
                         {"purpose", campaign.purpose},
                         {"epsilon", campaign.epsilon},
                         {"delta", campaign.delta},
                         {"rounds_done", progress.rounds_done},
                         {"rounds", progress.rounds},
                         {"version", progress.version},
                         {"orders_abandoned", progress.orders.abandoned},
                         {"orders_charged", progress.orders.trained},
                         {"evaluations_charged", progress.orders.evaluated},
                         {"last_problem", progress.last_problem},
                         {"cohort", campaign.cohort},
                         {"participations", campaign.participations},
                         {"population", campaign.population},
                         {"group", campaign.encoding.devices},
                         {"log_entries", run_.head().head.size},
                         {"now", json_of(floor_.counts())},
                         {"last_round", json_of(progress.last_round)},
                         {"last_round_seconds", progress.last_round_seconds},
                         {"draining", floor_.is_draining()},
                         {"trial", static_cast<bool>(settings_.trial_token)}};
  for (std::size_t i = 0; i < refused_.size(); ++i) body["refusals"][refusal_names[i]] = refused_[i]->value();
  if (const auto enrolled = count_enrolled()) body["enrolled"] = *enrolled;
  if (const auto spent = run_.epsilon_so_far()) body["epsilon_so_far"] = *spent;
  if (const auto all = run_.epsilon_in_all()) body["epsilon_in_all"] = *all;
  body["alert"] = progress.alert.empty() ? nlohmann::json(nullptr) : nlohmann::json(progress.alert);
  body["measures"] = progress.measures;
  body["order_began"] =
      progress.order_began ? nlohmann::json(privacy::to_text(*progress.order_began)) : nullptr;
  body["order_evaluates"] = progress.order_evaluates;
  body["stored"] = is_stored_.load();
  body["evaluation"] = nullptr;
  if (progress.evaluation)
    body["evaluation"] = {{"version", progress.evaluation->version},
                          {"auc", progress.evaluation->auc},
                          {"noise", progress.evaluation->noise},
                          {"devices", progress.evaluation->devices},
                          {"time", privacy::to_text(progress.evaluation->time)}};
  if (campaign.evaluation) body["evaluation_epsilon"] = campaign.evaluation->epsilon;
  return text_of(body);
}

void CoordinatorApi::cosign(HttpRequest&& request, HttpReply reply) {
  const auto word = rounds::decode_cosignature(request.body);
  if (!word) return std::move(reply)(problem(request, word.error()));
  // Not everybody may fill the log: the campaign names its witnesses.
  const auto& witnesses = run_.campaign().campaign.witnesses;
  if (std::find(witnesses.begin(), witnesses.end(), word->cosignature.witness) == witnesses.end())
    return std::move(reply)(net::error_response(request, 403, "the campaign does not name this witness"));
  if (!rounds::is_cosigned(word->head, word->cosignature))
    return std::move(reply)(net::error_response(request, 400, "the witness did not sign this head"));
  later(std::move(request), std::move(reply),
        [this, checked = *word](const HttpRequest& asked) { return acted(asked, run_.cosign(checked)); });
}

HttpResponse CoordinatorApi::acted(const HttpRequest& request, const Status& done) {
  return done ? net::json_response(R"({"done":true})") : problem(request, done.error());
}

void CoordinatorApi::add_admin_routes(net::Router& router) {
  const auto operator_only = [this](const HttpRequest& head) {
    return net::refuse_without_token(head, settings_.operator_token);
  };
  const auto action = [&](std::string_view name, std::function<Status(const HttpRequest&)> act) {
    router.add(
        HttpMethod::post, "/v1/admin/" + std::string(name),
        [this, act = std::move(act)](HttpRequest&& request, HttpReply reply) {
          later(std::move(request), std::move(reply),
                [this, act](const HttpRequest& asked) { return acted(asked, act(asked)); });
        },
        net::Router::default_body_limit, operator_only);
  };
  action("pause",
         [this](const HttpRequest&) { return run_.set_state(CampaignState::paused, "by the admin API"); });
  action("resume",
         [this](const HttpRequest&) { return run_.set_state(CampaignState::open, "by the admin API"); });
  action("drain", [this](const HttpRequest&) {
    floor_.drain();
    return store_.note_action({clock_(), "drain", {}});
  });
  action("roll-back", [this](const HttpRequest& request) -> Status {
    SOTTO_TRY(const std::uint64_t version, net::query_number(request.query, "version"));
    const auto why = net::query_value(request.query, "why");
    if (why && (why->size() > most_reason_bytes || !is_utf8(*why)))
      return bad_input("?why= has at most {} bytes of text", most_reason_bytes);
    return run_.roll_back(version, why.value_or("by the admin API"));
  });
  action("revoke", [this](const HttpRequest& request) -> Status {
    const auto text = net::query_value(request.query, "device");
    if (!text) return bad_input("?device=KEY is missing");
    SOTTO_TRY(const auto device, rounds::digest_from_hex(*text, "the key of a device"));
    SOTTO_CHECK(store_.revoke(device, clock_(), "by the admin API"));
    const std::lock_guard lock(known_mutex_);
    known_.erase(std::string(as_text(device)));
    return {};
  });
  router.add(
      HttpMethod::get, "/v1/admin/actions",
      [this](const HttpRequest& request) {
        const auto actions = store_.actions(0, 1000);
        if (!actions) return problem(request, actions.error());
        nlohmann::json list = nlohmann::json::array();
        for (const AdminAction& one : *actions)
          list.push_back(
              {{"time", privacy::to_text(one.time)}, {"action", one.action}, {"detail", one.detail}});
        return net::json_response(nlohmann::json{{"actions", list}}.dump());
      },
      net::Router::default_body_limit, operator_only);
  router.add(
      HttpMethod::get, "/v1/admin/left-out",
      [this](const HttpRequest& request) {
        const auto left_out = store_.left_out(run_.campaign().hash);
        if (!left_out) return problem(request, left_out.error());
        nlohmann::json list = nlohmann::json::array();
        for (const LeftOut& one : *left_out)
          list.push_back({{"device", to_hex(one.device)}, {"round", to_hex(one.round)}});
        return net::json_response(nlohmann::json{{"left_out", list}}.dump());
      },
      net::Router::default_body_limit, operator_only);
}

}  // namespace sotto::coordinator
