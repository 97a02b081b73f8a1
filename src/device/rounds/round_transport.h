#pragma once
// How a device reaches its coordinator (rounds/round_messages.h has the messages). Implementations add
// nothing that the coordinator does not need.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rounds/come_back.h"
#include "rounds/round_messages.h"

namespace sotto::device {

class RoundTransport {
 public:
  virtual ~RoundTransport() = default;

  // An error means that the coordinator was not reached, or is not well: trying again may help.
  virtual Result<std::optional<std::string>> fetch_offer() = 0;  // none: no round is open
  // When to ask for one again, as the last answer said.
  virtual std::optional<rounds::ComeBack> come_back() const { return std::nullopt; }
  virtual Result<std::string> fetch_log(std::uint64_t from) = 0;
  virtual Result<std::string> fetch_blob(const rounds::Digest& hash) = 0;

  struct Reply {
    enum class Kind : std::uint8_t {
      answer,
      wait,     // send the same again
      refused,  // for good; `body` says why
    };
    Kind kind = Kind::answer;
    std::string body;
  };
  virtual Result<Reply> enrol(std::string_view body) = 0;
  // Signed as request_statement("POST", path, body).
  virtual Result<Reply> post(std::string_view path, std::string_view body, const rounds::IdentityKey& device,
                             const rounds::Signature& signature) = 0;
};

}  // namespace sotto::device
