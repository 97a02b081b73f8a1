#include "net/http_message.h"

#include "net/http_text.h"
#include "net/kept_bytes.h"

namespace sotto::net {

std::string_view name(HttpMethod method) {
  switch (method) {
    case HttpMethod::get:
      return "GET";
    case HttpMethod::head:
      return "HEAD";
    case HttpMethod::post:
      return "POST";
    case HttpMethod::put:
      return "PUT";
    case HttpMethod::patch:
      return "PATCH";
    case HttpMethod::remove:
      return "DELETE";
    case HttpMethod::options:
      return "OPTIONS";
  }
  return "?";
}

std::string_view find_field(const HttpFields& fields, std::string_view name) {
  for (const auto& [field, value] : fields) {
    if (equal_ignoring_case(field, name)) return value;
  }
  return {};
}

std::string_view HttpResponse::bytes() const {
  return shared_body ? std::string_view(shared_body->bytes).substr(slice_begin, slice_size) : body;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Payload Too Large";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 422:
      return "Unprocessable Entity";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Status";
  }
}

HttpReply::~HttpReply() {
  if (!slot_) return;
  HttpResponse unanswered;
  unanswered.status = 500;
  slot_->answer(std::move(unanswered));
}

void HttpReply::operator()(HttpResponse response) && {
  if (const auto slot = std::move(slot_)) slot->answer(std::move(response));
}

}  // namespace sotto::net
