#pragma once
// A device's side of blind serving: the guide, the keys of the next questions, the question under way, and
// what the last answer said.
//
// Questions go out by the clock alone: once a period, as many probes as the guide says, whatever was read. A
// question that got no answer is sent again byte by byte; nothing that is decrypted decides whether, when or
// what is sent, and no error speaks of it.
//
// Keys and the question under way live in memory only. On the disk are the guide, which is public, and the
// items of the last answer with their scores, readable by the owner alone.
//
// Owns its two files. Not thread-safe.

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/files.h"
#include "blind/guide.h"
#include "device/blind/key_part.h"
#include "device/conversation.h"
#include "device/pack/device_pack.h"
#include "device/rank/reranker.h"
#include "privacy/ledger/answer_cache.h"
#include "privacy/ledger/ledger.h"

namespace sotto::device {

// What the last answer said: it is used again until the period ends.
struct BlindAnswerKept {
  privacy::UtcTime valid_until;
  std::vector<RankedItem> items;  // best first
  bool operator==(const BlindAnswerKept&) const = default;
};
// For the file, and for tests of damaged ones.
std::string encode(const BlindAnswerKept& kept);
Result<BlindAnswerKept> decode_blind_answer_kept(std::string_view bytes);

class BlindRanking {
 public:
  BlindRanking(const fs::path& folder, privacy::DeviceRandom random);

  // After a pack was installed, which must outlive the next call: the guide on the disk is taken up if it is
  // the one that the pack names, and all that belonged to another is dropped.
  void follow(const DevicePack& pack);
  // Fetches the guide where it is missing. An error when there is none, or it is not the one that the pack
  // names.
  Talk<Status> ensure_guide(Exchange& exchange);
  const std::string& guide_version() const { return version_; }  // empty: there is none yet
  // Makes the keys of the next question, so that asking takes no time. Does nothing when they are there.
  Status prepare();

  const std::optional<BlindAnswerKept>& last_answer() const { return kept_; }

  // Deletes what the last answer said, and the question under way.
  Status forget();

  struct Asked {
    std::vector<RankedItem> items;
    bool is_new = false;  // asked by this call
  };
  // Charges, asks, decrypts and keeps `wanted` items; or what was kept, until the period is over. Needs a
  // guide.
  Talk<Result<Asked>> ask(Exchange& exchange, std::vector<float> user, std::size_t wanted,
                          privacy::Ledger& ledger, privacy::RefreshClock clock, privacy::ClockReading now);

 private:
  struct Question {
    std::string body;
    std::vector<std::uint32_t> clusters;
    std::vector<Opening> openings;
    std::vector<float> user;  // rotated
    float scale = 1;
  };
  Status adopt(std::string_view bytes);
  Status make_question(std::span<const float> user);
  std::vector<RankedItem> open_answer(Question question, std::span<const std::uint32_t> words,
                                      std::size_t wanted) const;
  void drop_missing();

  const fs::path guide_path_, kept_path_;
  privacy::DeviceRandom random_;
  const DevicePack* pack_ = nullptr;        // the installed one
  std::unordered_set<std::uint32_t> gone_;  // items of its guide that have left
  std::optional<blind::Guide> guide_;
  std::string version_;  // of guide_
  std::vector<KeyPart> keys_;
  std::optional<Question> question_;
  std::optional<BlindAnswerKept> kept_;
};

}  // namespace sotto::device
