#include "device/rounds/round_calls.h"

#include "base/chain_hash.h"
#include "device/wire/server_calls.h"

namespace sotto::device {

namespace {

ServerCall post(std::string path, std::string body) {
  return {"POST", std::move(path), {{"Content-Type", "application/octet-stream"}}, std::move(body)};
}

Talk<Result<rounds::OpenedCampaign>> fetch(Exchange& exchange) {
  SOTTO_CO_TRY(const ServerAnswer answer, co_await exchange.send(campaign_call()));
  if (answer.status != 200) co_return refused("coordinator", answer);
  co_return rounds::open_campaign(answer.body);
}

}  // namespace

ServerCall campaign_call() { return {"GET", "/v1/campaign", {}, {}}; }
ServerCall offer_call() { return {"GET", "/v1/order", {}, {}}; }
ServerCall log_call(std::uint64_t from) { return {"GET", fmt::format("/v1/log?from={}", from), {}, {}}; }
ServerCall blob_call(const rounds::Digest& hash) { return {"GET", "/v1/blob/" + to_hex(hash), {}, {}}; }
ServerCall enrol_call(std::string body) { return post("/v1/enrol", std::move(body)); }

ServerCall signed_call(std::string path, std::string body, const secagg::Identity& device) {
  const rounds::Digest hash = rounds::blob_hash(body);
  const auto signature = device.sign(rounds::request_statement("POST", path, hash));
  ServerCall call = post(std::move(path), std::move(body));
  call.headers.emplace_back(rounds::device_header, to_hex(device.public_key()));
  call.headers.emplace_back(rounds::signature_header, to_hex(signature));
  call.headers.emplace_back(rounds::body_header, to_hex(hash));
  return call;
}

Conversation<rounds::OpenedCampaign> fetch_campaign() { return Conversation<rounds::OpenedCampaign>(fetch); }

}  // namespace sotto::device
