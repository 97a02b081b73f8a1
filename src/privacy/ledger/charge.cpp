#include "privacy/ledger/charge.h"

#include <algorithm>

#include "base/utf8.h"
#include "privacy/accounting/rdp_accountant.h"

namespace sotto::privacy {
namespace {

Result<std::vector<CategoryId>> sensitive_categories(const Release& release,
                                                     const SensitivitySettings& sensitivity) {
  std::vector<CategoryId> read;
  if (release.reads) {
    if (release.reads->empty()) {
      return bad_input("the release names no category that it reads: name them, or leave them open for all");
    }
    for (const std::string& category : *release.reads) {
      SOTTO_TRY(const CategoryId id, sensitivity.find(category));
      read.push_back(id);
    }
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
  } else {
    for (std::size_t id = 0; id < sensitivity.categories().size(); ++id) {
      read.push_back(static_cast<CategoryId>(id));
    }
  }
  std::erase_if(read, [&](CategoryId category) { return !sensitivity.is_sensitive(category); });
  return read;
}

}  // namespace

Result<PrivacyEvent> restate(const PrivacyEvent& event, Unit unit, Adjacency adjacency) {
  SOTTO_CHECK(validate(event));
  if (!std::holds_alternative<NoSampling>(event.sampling)) {
    return bad_input(
        "the ledger counts against the server, which sees who takes part: state the event without sampling");
  }
  if (event.count > max_uses) {
    return bad_input("{} uses in one charge are too many, at most {}", event.count, max_uses);
  }
  PrivacyEvent restated = event;
  if (adjacency == Adjacency::replace_one) {
    SOTTO_TRY(restated, to_replace_one(event));
  } else if (event.adjacency != adjacency) {
    return bad_input(
        "a replace-one release says nothing under add-remove, which this ledger counts in: create the ledger "
        "with adjacency replace-one");
  }
  return to_smaller_unit(restated, unit);
}

Result<Charge> price(const Release& release, const LedgerSettings& settings) {
  SOTTO_CHECK(restate(release.event, settings.unit, settings.adjacency));
  if (release.about.size() > max_about_bytes || !is_printable(release.about)) {
    return bad_input("the words about a release are at most {} bytes of printable UTF-8, not \"{}\"",
                     max_about_bytes, printable(release.about));
  }
  if (release.round && !is_for_rounds(release.purpose))
    return bad_input("a release for {} names a round of training: leave it out", name(release.purpose));
  Charge charge{release.purpose, std::nullopt, {}, release.about, release.round};
  SOTTO_TRY(charge.categories, sensitive_categories(release, settings.sensitivity));
  if (!charge.categories.empty()) charge.event = release.event;
  return charge;
}

std::string_view name(ReleasePurpose purpose) {
  switch (purpose) {
    case ReleasePurpose::training:
      return "training";
    case ReleasePurpose::labels:
      return "labels";
    case ReleasePurpose::serving:
      return "serving";
    case ReleasePurpose::evaluation:
      return "evaluation";
  }
  return "unknown";
}

}  // namespace sotto::privacy
