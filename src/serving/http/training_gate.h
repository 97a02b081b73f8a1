#pragma once
// The reader's page trains through the server that it came from: what a device says to a coordinator, and
// nothing else, is handed on under /training.
//
//   GET  /training/v1/campaign, /v1/order, /v1/log?from=N, /v1/blob/{hash}
//   POST /training/v1/enrol, /v1/checkin, /v1/rounds/{room}/{phase}
//   GET  /training/v1/trial     where the coordinator is a trial, which hands out tokens to anybody
//
// A browser talks to the origin of its page alone, and the coordinator learns no reader's address. What is
// handed on is what a device signs: method, path, body and its three headers; no cookie, token or header of
// anybody else. Answers are checked by the device as if they came directly.
//
// Coordinators hold answers back for seconds, so each call has a thread while it lasts: at most `calls` at
// once, further ones are told to come back. The routes must not outlive the object. Thread-safe.

#include <memory>
#include <optional>

#include "net/http_client.h"
#include "net/router.h"
#include "rounds/document.h"

namespace sotto {
class SettingsTable;
}

namespace sotto::serving {

struct TrainingGateSettings {
  std::string coordinator;  // its address; empty: the page trains for nobody
  std::string authorities;  // PEM file of certificates to trust, for https
  std::int64_t calls = 64;
  // Whose campaigns pages train in; none: the coordinator is a trial and says it.
  std::optional<rounds::IdentityKey> operator_key, recovery_key;

  void bind(SettingsTable& table);  // all but the keys, which are read from files
};

class TrainingGate {
 public:
  static Result<std::unique_ptr<TrainingGate>> open(const TrainingGateSettings& settings);
  ~TrainingGate();
  TrainingGate(const TrainingGate&) = delete;
  TrainingGate& operator=(const TrainingGate&) = delete;

  // Bytes of one message of a device at most: what a device allows an upload to be.
  static constexpr std::uint64_t most_message_bytes = (std::uint64_t{1} << 20) + (64 << 10);
  void add_routes(net::Router& router);
  // Ends the calls that are under way; later ones are told to come back.
  void stop();

 private:
  struct Calls;
  TrainingGate(net::HttpClientSettings coordinator, std::size_t calls, bool trial);
  void hand_on(net::HttpRequest&& request, net::HttpReply reply);

  const bool trial_;
  std::unique_ptr<Calls> calls_;
};

}  // namespace sotto::serving
