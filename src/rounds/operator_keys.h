#pragma once
// Whose campaigns a device accepts, as that changes over the years. A device is enrolled with an operator's
// key, and with a recovery key if the operator has one: both come with the app. A key change puts another key
// in the operator's place without a new app: signed by the key that it replaces, or by the recovery key,
// which outweighs all others. It stands in the public log, where nobody can be shown another one.
//
// A key that is replaced in good order is retired: what it signed before stays good, as far as it stood in
// the log before the change. One that was lost or stolen is revoked: nothing that it signed is good any more.
// Keys that are replaced never return, so that old changes cannot be played again. Plain values, no I/O.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rounds/campaign.h"

namespace sotto::rounds {

struct KeyChange {
  static constexpr std::size_t most_replaced = 16;
  std::vector<IdentityKey> replaced;  // by the signer alone itself; by the recovery key any, ascending
  IdentityKey after{};                // signs from now on
  bool revokes = false;
  UtcTime time{};
};
inline constexpr DocumentKind key_change_kind{"key change", "SOTTOKEY", 1, "sotto operator key change 1",
                                              1024};

// Refuses a change that says nothing, or that a device would not follow from this signer.
Result<std::string> sign_key_change(const KeyChange& change, const Identity& signer);
struct OpenedKeyChange {
  KeyChange change;
  Digest hash{};
  Signature signature{};
  bool is_signed_by(const IdentityKey& key) const { return verify(signature, hash, key); }
};
Result<OpenedKeyChange> open_key_change(std::string_view bytes);

class OperatorKeys {
 public:
  static constexpr std::size_t most_former = 1000;

  // As they came with the app.
  explicit OperatorKeys(const IdentityKey& operator_key, std::optional<IdentityKey> recovery = std::nullopt)
      : current_(operator_key), recovery_(recovery) {}

  const IdentityKey& current() const { return current_; }
  const std::optional<IdentityKey>& recovery() const { return recovery_; }
  bool is_revoked(const IdentityKey& key) const;

  // Follows a change that stands at this place of the log. False: it is not by somebody who may say so, and
  // changes nothing.
  bool follow(const OpenedKeyChange& change, std::uint64_t log_index);

  // Did somebody sign the campaign who could, when it was entered at this place of the log?
  Status check(const OpenedCampaign& campaign, std::uint64_t log_index) const;
  // Of a document that no log has, an enrolment token: by the current key, or one that is retired.
  template <class Opened>
  std::optional<IdentityKey> signer_of(const Opened& opened) const {
    if (opened.is_signed_by(current_)) return current_;
    for (const Former& one : former_)
      if (!one.revoked && opened.is_signed_by(one.key)) return one.key;
    return std::nullopt;
  }

  std::string encode() const;
  static Result<OperatorKeys> decode(std::string_view bytes);

 private:
  struct Former {
    IdentityKey key{};
    bool revoked = false;
    std::uint64_t until = 0;  // retired: what stands in the log from here on is not good
  };
  template <class Fields, class Keys>
  static void visit(Fields& fields, Keys& keys);
  Former* find(const IdentityKey& key);

  IdentityKey current_{};
  std::optional<IdentityKey> recovery_;
  std::vector<Former> former_;
};

}  // namespace sotto::rounds
