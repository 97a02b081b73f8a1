#pragma once
// What a device demands of its server's public log, and how much of it it has seen: packs and guides are used
// once they are proved to be in a log that its owner signed, that continues what was seen before, and that as
// many witnesses cosigned as the settings ask for. A server that shows devices different ones has to put all
// of them into one list that everybody sees, or to show two lists, of which this file keeps the signed head
// of one.
//
// Owns its file. Not thread-safe.

#include <optional>
#include <vector>

#include "base/files.h"
#include "device/conversation.h"
#include "device/sdk/device_settings.h"
#include "rounds/public_log.h"

namespace sotto::device {

class LogWatch {
 public:
  // Refuses keys that are none, and a file that is damaged.
  static Result<LogWatch> open(fs::path file, const LogSettings& settings);

  // False: the settings name no log, and demand() asks for nothing.
  bool is_demanded() const { return owner_.has_value(); }
  // How far it was checked; none: no log is demanded, or nothing of it was seen yet.
  struct Seen {
    rounds::IdentityKey owner{};
    rounds::LogHead head;
    std::size_t witnesses = 0;  // of those that the settings name, who cosigned it
    std::uint64_t witnesses_needed = 0;
    std::vector<rounds::LogLeaf> proved;  // the newest last
  };
  std::optional<Seen> seen() const;
  // Asks for the proof of an entry, unless it was proved before.
  Talk<Status> demand(Exchange& exchange, rounds::LogLeaf leaf);

 private:
  explicit LogWatch(fs::path file) : file_(std::move(file)) {}
  Status take(const rounds::LogProof& proof, const rounds::LogLeaf& leaf);

  fs::path file_;
  std::optional<rounds::IdentityKey> owner_;
  std::vector<rounds::IdentityKey> witnesses_;
  std::uint64_t witnesses_needed_ = 0;
  std::optional<rounds::SignedHead> seen_;
  std::vector<rounds::LogLeaf> proved_;  // the newest last
};

}  // namespace sotto::device
