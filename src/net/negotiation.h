#pragma once
// Bodies come as JSON for people and as FlatBuffers for devices; errors answer in the form that was asked
// for.

#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http_message.h"

namespace sotto::net {

enum class BodyForm { json, flatbuffers };

inline constexpr std::string_view json_type = "application/json";
inline constexpr std::string_view flat_buffers_type = "application/x-flatbuffers";

// What the client wants: by Accept with its q values, else the form it sent, else JSON.
BodyForm wanted_form(const HttpRequest& request);
// What the client sent. An error (answer 415) when Content-Type is neither; JSON when there is none.
Result<BodyForm> sent_form(const HttpRequest& request);

// {"error": "..."} or a ServingError table (proto/serving.fbs).
HttpResponse error_response(BodyForm form, int status, std::string_view message);
inline HttpResponse error_response(const HttpRequest& request, int status, std::string_view message) {
  return error_response(wanted_form(request), status, message);
}
// The message of an error_response() of either form, for people: short and printable. The reason phrase when
// the body is something else.
std::string error_text(const HttpResponse& response);
HttpResponse json_response(std::string body, int status = 200);

// The q value that a list like Accept or Accept-Encoding gives to this name: 1 when it is named without one,
// 0 when it is not named.
double accepted_quality(std::string_view list, std::string_view name);

}  // namespace sotto::net
