#pragma once
// What a person agreed to: with whom, for what, and up to which limits. A device asks nothing, enrols nowhere
// and trains for nobody without such a record, and only Device::agree() makes one.
//
// The limits are the settings at that moment: settings that allow more afterwards need another agreement,
// stricter ones do not. A campaign for another purpose than the one agreed to is refused (round_checks.h).
// Plain values; one encoding.

#include <string>
#include <string_view>

#include "device/sdk/device_settings.h"
#include "privacy/ledger/ledger_clock.h"

namespace sotto::device {

// What is told by answers at most.
struct AskingLimits {
  std::string ranking = "local";  // how it asks (DeviceSettings)
  double epsilon = 0, refresh_hours = 0;
  double day_epsilon = 0, month_epsilon = 0, lifetime_epsilon = 0;  // of everything together; 0: no budget
  bool operator==(const AskingLimits&) const = default;
};

// What a person is asked. The words are the host's; the facts are these.
struct ConsentTerms {
  std::string service;  // who asks: the address, as the person knows it
  std::string purpose;  // for what, in words; of training, as the campaign states it
  bool training = false, asking = false;
  TrainingPolicy training_limits;
  AskingLimits asking_limits;
};

struct Consent {
  ConsentTerms terms;
  privacy::UtcTime given{};
};

// The terms under these settings.
ConsentTerms terms_of(const DeviceSettings& settings, std::string service, std::string purpose, bool training,
                      bool asking);

// Do the settings allow no more than was agreed to? An error says what does.
Status check_training(const Consent& consent, const DeviceSettings& settings);
Status check_asking(const Consent& consent, const DeviceSettings& settings);

Status validate(const ConsentTerms& terms);
std::string encode(const Consent& consent);
Result<Consent> decode_consent(std::string_view bytes);

}  // namespace sotto::device
