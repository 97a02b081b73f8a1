#pragma once
// What was shown on this device and what was clicked of it: what the device trains on. Kept here, never sent.
// Durable, readable by its owner only, bounded in number and age: the oldest leave first. Deleting leaves no
// byte of it in the folder.
//
// Owns its file. Movable. Not thread-safe.

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "privacy/ledger/ledger_clock.h"

namespace sotto::device {

struct StoredImpression {
  privacy::UtcTime time{};
  std::vector<std::string> history;  // items clicked before, oldest first
  std::vector<std::string> shown;
  std::vector<std::uint8_t> clicked;  // 0 or 1 for each that was shown
  bool operator==(const StoredImpression&) const = default;
};

struct ImpressionLimits {
  std::size_t impressions = 1000;
  std::chrono::days age{90};
  static constexpr std::size_t most_items = 1000;  // of a history, or shown at once
};

class ImpressionStore {
 public:
  // A missing file is an empty store; a damaged one is an error.
  static Result<ImpressionStore> open(const fs::path& path, const ImpressionLimits& limits = {});

  // Behind those that are there. All or none; refuses what makes no sense.
  Status add(std::vector<StoredImpression> impressions, privacy::UtcTime now);
  // Lets go what is too old.
  Status forget_old(privacy::UtcTime now);
  Status clear();
  // Deletes an item that was clicked from all pages: that it was shown, that it was clicked, and that it had
  // been clicked before others were. Where it was shown and left alone it stays. False: it was clicked on
  // none.
  Result<bool> remove_clicked(std::string_view item);

  const std::vector<StoredImpression>& impressions() const { return stored_; }

 private:
  ImpressionStore(fs::path path, const ImpressionLimits& limits) : path_(std::move(path)), limits_(limits) {}
  Status write(std::vector<StoredImpression> stored);
  fs::path path_;
  ImpressionLimits limits_;
  std::vector<StoredImpression> stored_;
};

// For the file, and for tests of damaged ones.
std::string encode(const std::vector<StoredImpression>& impressions);
Result<std::vector<StoredImpression>> decode_impressions(std::string_view bytes);

}  // namespace sotto::device
