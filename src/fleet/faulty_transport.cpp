#include "fleet/faulty_transport.h"

#include <thread>

#include "device/rounds/round_calls.h"
#include "rounds/round_messages.h"

namespace sotto::fleet {

void FaultyTransport::take_order(const device::ServerAnswer& answer) {
  fault_ = {};
  if (!faults_ || answer.status != 200) return;
  // What is wrong with an offer is for the device to say.
  if (const auto offer = rounds::decode_offer(answer.body))
    if (const auto order = rounds::open_order(offer->order)) fault_ = faults_(order->order.number);
}

Result<device::ServerAnswer> FaultyTransport::send(const device::ServerCall& call) {
  if (call.method != "POST") {
    auto answer = real_.send(call);
    if (answer && call.path == device::offer_call().path) take_order(*answer);
    return answer;
  }
  if (fault_.delay.count() > 0) std::this_thread::sleep_for(fault_.delay);
  const bool now = fault_.kind != Fault::Kind::none && call.path.ends_with(fault_.phase);
  if (now && fault_.kind == Fault::Kind::vanishes)
    return device::ServerAnswer{410, R"({"error":"this device vanished"})"};
  if (!now || call.body.empty()) return real_.send(call);
  // A lie is well signed, or nobody would listen.
  std::string wrong = call.body;
  wrong[wrong.size() / 2] = static_cast<char>(wrong[wrong.size() / 2] ^ 1);
  return real_.send(device::signed_call(call.path, std::move(wrong), identity_));
}

}  // namespace sotto::fleet
