#include "fleet/faulty_transport.h"

#include <thread>

#include "rounds/round_messages.h"

namespace sotto::fleet {

Result<std::optional<std::string>> FaultyTransport::fetch_offer() {
  SOTTO_TRY(auto bytes, real_.fetch_offer());
  fault_ = {};
  if (!bytes || !faults_) return bytes;
  // What is wrong with an offer is for the device to say.
  if (const auto offer = rounds::decode_offer(*bytes))
    if (const auto order = rounds::open_order(offer->order)) fault_ = faults_(order->order.number);
  return bytes;
}

Result<device::RoundTransport::Reply> FaultyTransport::post(std::string_view path, std::string_view body,
                                                            const rounds::IdentityKey& device,
                                                            const rounds::Signature& signature) {
  if (fault_.delay.count() > 0) std::this_thread::sleep_for(fault_.delay);
  const bool now = fault_.kind != Fault::Kind::none && path.ends_with(fault_.phase);
  if (now && fault_.kind == Fault::Kind::vanishes) return Reply{Reply::Kind::refused, "this device vanished"};
  if (!now || body.empty()) return real_.post(path, body, device, signature);
  // A lie is well signed, or nobody would listen.
  std::string wrong(body);
  wrong[wrong.size() / 2] = static_cast<char>(wrong[wrong.size() / 2] ^ 1);
  return real_.post(path, wrong, device, identity_.sign(rounds::request_statement("POST", path, wrong)));
}

}  // namespace sotto::fleet
