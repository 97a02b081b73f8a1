#include "fl/divergence.h"

#include <charconv>

namespace sotto::fl {

namespace {

constexpr std::string_view begins = "the model diverged in round ";

}  // namespace

tl::unexpected<Error> diverged(std::uint32_t round, std::string_view what, std::string_view advice) {
  return failed("{}{}: {} is no longer a number. {} (the last checkpoint is intact)", begins, round, what,
                advice);
}

std::optional<std::uint32_t> diverged_round(const Error& error) {
  const auto found = error.message.rfind(begins);
  if (error.kind != ErrorKind::failed || found == std::string::npos) return std::nullopt;
  const char* number = error.message.data() + found + begins.size();
  std::uint32_t round = 0;
  const auto [end, problem] = std::from_chars(number, error.message.data() + error.message.size(), round);
  return problem == std::errc() && round > 0 ? std::optional(round) : std::nullopt;
}

}  // namespace sotto::fl
