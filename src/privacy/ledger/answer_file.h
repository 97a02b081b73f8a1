#pragma once
// The bytes of an answer cache: which answer was drawn when, and which record paid for it.

#include <map>
#include <string>
#include <string_view>

#include "privacy/ledger/chain_hash.h"
#include "privacy/ledger/utc_time.h"

namespace sotto {

struct StoredAnswer {
  std::string bytes;
  UtcTime drawn;
  UtcTime valid_until;
  std::uint64_t record = 0;  // of the charge
  ChainHash paid{};          // the chain's hash at that record

  bool operator==(const StoredAnswer&) const = default;
};
using StoredAnswers = std::map<std::string, StoredAnswer, std::less<>>;  // by kind

constexpr std::uint64_t kMaxAnswerFileBytes = std::uint64_t{300} << 20;

std::string encode(const StoredAnswers& answers);
Result<StoredAnswers> decode_answers(std::string_view bytes);
Status validate_answer_kind(std::string_view kind);

}  // namespace sotto
