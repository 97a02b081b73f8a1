#pragma once
// The part of a device that trains: whether its person agreed, the key by which a coordinator knows it, what
// it was shown, and the rounds it takes part in. Beside the ledger, which it is charged in like every query.
//
// Nothing is sent before somebody has agreed, because enrol() asks: there is no other way to a key. Whoever
// withdraws loses key and consent, and with them every way to take part.
//
// Files in the device's folder, readable by its owner alone: consent.sotto, identity.sotto,
// impressions.sotto, public-log.sotto, items.sotto. Refers to the ledger. Movable. One call at a time.

#include <functional>

#include "device/rounds/participant.h"

namespace sotto::device {

// What a person is asked. The words are the host's; the facts are these.
struct ConsentQuestion {
  rounds::IdentityKey operator_key{};  // who asks
  std::string service;                 // where: the coordinator's address, as the host knows it
  TrainingPolicy policy;               // what training may cost and do at most
  bool first_use = false;
};
using AskPerson = std::function<bool(const ConsentQuestion&)>;

struct StoredConsent {
  rounds::IdentityKey operator_key{};
  std::string service;
  privacy::UtcTime given{};
};

class DeviceTraining {
 public:
  static Result<DeviceTraining> open(const fs::path& folder, const ImpressionLimits& limits = {});

  // Asks, and then enrols. False: the person did not agree, and nothing was sent or kept. A device that is
  // enrolled with this operator already is not asked again.
  Result<bool> enrol(RoundTransport& transport, const std::string& token,
                     const rounds::IdentityKey& operator_key, const std::string& service,
                     const TrainingPolicy& policy, privacy::UtcTime now, const AskPerson& ask);
  const std::optional<StoredConsent>& consent() const { return consent_; }
  // Key and consent are gone. Impressions stay until they are cleared.
  Status withdraw();

  ImpressionStore& impressions() { return impressions_; }
  const std::optional<secagg::Identity>& identity() const { return identity_; }

  // With what a round needs beside. Refused without consent.
  struct Around {
    privacy::Ledger& ledger;
    std::function<privacy::ClockReading()> clock;
    TrainingPolicy policy;
    RoundDraws& draws;
    std::function<bool()> cancelled;
    std::function<void(std::chrono::milliseconds)> wait;
    std::function<std::chrono::steady_clock::time_point()> steady = std::chrono::steady_clock::now;
  };
  Result<Participation> take_part(RoundTransport& transport, const Around& around);

 private:
  DeviceTraining(fs::path folder, ImpressionStore impressions)
      : folder_(std::move(folder)), impressions_(std::move(impressions)) {}
  fs::path path_of(std::string_view name) const { return folder_ / name; }

  fs::path folder_;
  ImpressionStore impressions_;
  std::optional<StoredConsent> consent_;
  std::optional<secagg::Identity> identity_;
};

// Draws of the secure generator; what a device uses unless it is simulated.
class SecretDraws final : public RoundDraws {
 public:
  privacy::DeviceRandom noise(std::uint64_t) override { return privacy::DeviceRandom(noise_); }
  RandomSource& examples(std::uint64_t) override { return examples_; }
  privacy::DeviceRandom keys() override { return privacy::DeviceRandom(keys_); }

 private:
  SecureRandom noise_, examples_, keys_;
};

// Noise and examples as a simulation of the same seed draws them for this user, so that both give the same
// bits; keys stay secret. Protects nobody.
class SimulatedDraws final : public RoundDraws {
 public:
  SimulatedDraws(std::uint64_t seed, std::uint32_t user) : seed_(seed), user_(user) {}
  privacy::DeviceRandom noise(std::uint64_t round) override;
  RandomSource& examples(std::uint64_t round) override;
  privacy::DeviceRandom keys() override { return privacy::DeviceRandom(keys_); }

 private:
  std::uint64_t seed_;
  std::uint32_t user_;
  std::optional<SeededRandom> noise_, examples_;
  SecureRandom keys_;
};

}  // namespace sotto::device
