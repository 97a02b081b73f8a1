#include "net/http_fetch.h"

#include <fmt/format.h>

#include "net/http_text.h"

namespace sotto::net {

namespace {

// Only strong tags name bytes.
bool may_go_on(const HttpClient::BrokenOff& broken) {
  return broken.so_far.status == 200 && !broken.so_far.body.empty() &&
         broken.so_far.body.size() < broken.announced_bytes &&
         broken.so_far.header("ETag").starts_with('"') &&
         equal_ignoring_case(broken.so_far.header("Accept-Ranges"), "bytes");
}

// What is said of a part whether all of it came or not.
Status check_rest(const HttpResponse& rest, const HttpClient::BrokenOff& whole) {
  const std::string wanted = fmt::format("bytes {}-{}/{}", whole.so_far.body.size(),
                                         whole.announced_bytes - 1, whole.announced_bytes);
  if (rest.header("Content-Range") == wanted && rest.header("ETag") == whole.so_far.header("ETag") &&
      rest.header("Content-Encoding") == whole.so_far.header("Content-Encoding"))
    return {};
  return failed("the server sends another part than was asked for: \"{}\" instead of \"{}\"",
                rest.header("Content-Range"), wanted);
}

}  // namespace

Result<HttpResponse> fetch(HttpClient& client, const HttpClient::Call& call) {
  const auto begun = std::chrono::steady_clock::now();
  HttpClient::BrokenOff whole;
  Result<HttpResponse> answer = client.send(call, &whole);
  while (!answer && may_go_on(whole) &&
         std::chrono::steady_clock::now() < begun + client.time_for(whole.so_far.body.size())) {
    HttpClient::Call for_rest = call;
    for_rest.headers.emplace_back("Range", fmt::format("bytes={}-", whole.so_far.body.size()));
    for_rest.headers.emplace_back("If-Range", whole.so_far.header("ETag"));
    HttpClient::BrokenOff rest;
    answer = client.send(for_rest, &rest);
    const HttpResponse& came = answer ? *answer : rest.so_far;
    if (came.status != 206) break;  // other bytes by now, which come whole; another answer; or none
    SOTTO_CHECK(check_rest(came, whole));
    if (came.body.empty()) break;
    whole.so_far.body += came.body;
    if (!answer) continue;
    if (whole.so_far.body.size() != whole.announced_bytes)
      return failed("the server sends {} bytes instead of the {} that it announced", whole.so_far.body.size(),
                    whole.announced_bytes);
    answer = std::move(whole.so_far);
  }
  return answer;
}

}  // namespace sotto::net
