#pragma once
// "Authorization: Bearer TOKEN", for what only operators may do.

#include <optional>
#include <string>

#include "net/http_message.h"

namespace sotto::net {

// Nothing: the request has the token. Otherwise what to answer: 403 where there is no token at all and so
// nobody may, 401 to whoever has another. Takes as long for a wrong token as for the right one.
std::optional<HttpResponse> refuse_without_token(const HttpRequest& head, std::string_view token);

}  // namespace sotto::net
