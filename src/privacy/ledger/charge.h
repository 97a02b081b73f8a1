#pragma once
// What a device wants to tell, and what that costs.
//
// The price is a function of the release and of the settings. It sees no history, so it cannot depend on
// whether sensitive clicks exist. Plain values and pure functions, safe from several threads.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "privacy/ledger/ledger_settings.h"

namespace sotto::privacy {

enum class ReleasePurpose : std::uint8_t { training, labels, serving, evaluation };
constexpr std::size_t release_purposes = 4;

// A round of training over a network, or of measuring what was trained, by the hashes that its order names
// them by. Paid for once: the ledger refuses a second charge for the same round, whoever asks for it again.
struct TrainingRound {
  using Hash = std::array<std::uint8_t, 32>;
  Hash campaign{}, round{};
};

struct Release {
  ReleasePurpose purpose = ReleasePurpose::serving;
  // What the server will see, per use and unsampled: it knows who takes part.
  PrivacyEvent event;
  // The categories whose clicks it may look at; none given: the whole history. This must be known to the
  // server anyway (a setting, or the categories of the items it showed), never chosen by looking at clicks.
  std::optional<std::vector<std::string>> reads;
  std::string about;  // a few words for the statement: "round 17", "front page"
  std::optional<TrainingRound> round = std::nullopt;  // of training and evaluation alone
};
constexpr bool is_for_rounds(ReleasePurpose purpose) {
  return purpose == ReleasePurpose::training || purpose == ReleasePurpose::evaluation;
}

struct Charge {
  ReleasePurpose purpose = ReleasePurpose::serving;
  // None: nothing sensitive may be looked at, the release costs nothing and may use UnprotectedClicks only.
  std::optional<PrivacyEvent> event;
  std::vector<CategoryId> categories;  // the sensitive ones it may tell about, ascending
  std::string about;
  std::optional<TrainingRound> round = std::nullopt;
};

constexpr std::size_t max_about_bytes = 200;
// Uses in one charge: far beyond any round, and sums of them cannot overflow.
constexpr std::uint64_t max_uses = 1'000'000'000;

// Refuses releases that no theorem covers in this ledger's unit and adjacency, whether they would be free or
// not.
Result<Charge> price(const Release& release, const LedgerSettings& settings);

// A valid, unsampled event in the ledger's own unit and adjacency.
Result<PrivacyEvent> restate(const PrivacyEvent& event, Unit unit, Adjacency adjacency);

std::string_view name(ReleasePurpose purpose);  // "training", "labels", "serving", "evaluation"

}  // namespace sotto::privacy
