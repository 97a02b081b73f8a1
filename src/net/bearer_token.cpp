#include "net/bearer_token.h"

#include "net/negotiation.h"

namespace sotto::net {

namespace {

bool same_token(std::string_view given, std::string_view wanted) {
  unsigned difference = given.size() == wanted.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i)
    difference |=
        static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(wanted[i % wanted.size()]);
  return difference == 0;
}

}  // namespace

std::optional<HttpResponse> refuse_without_token(const HttpRequest& head, std::string_view token) {
  constexpr std::string_view scheme = "Bearer ";
  if (token.empty())
    return error_response(head, 403, "this server takes no changes: start it with an operator token");
  const std::string_view given = head.header("Authorization");
  if (given.starts_with(scheme) && same_token(given.substr(scheme.size()), token)) return std::nullopt;
  return error_response(head, 401, "changes need the operator's token");
}

}  // namespace sotto::net
