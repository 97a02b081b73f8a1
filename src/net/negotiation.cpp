#include "net/negotiation.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "net/http_text.h"
#include "proto/serving_generated.h"

namespace sotto::net {

namespace {

constexpr const char* serving_identifier = "SOSV";  // file_identifier of proto/serving.fbs

std::string_view media_type(std::string_view value) { return trim_spaces(value.substr(0, value.find(';'))); }

// "text/html;q=0.8" → 0.8; 1 when there is no q, 0 when it is not a number.
double quality(std::string_view element) {
  while (true) {
    const std::size_t semicolon = element.find(';');
    if (semicolon == std::string_view::npos) return 1;
    element = trim_spaces(element.substr(semicolon + 1));
    if (element.size() < 2 || (element[0] != 'q' && element[0] != 'Q') || element[1] != '=') continue;
    element.remove_prefix(2);
    double value = 0;
    const auto [end, wrong] = std::from_chars(element.data(), element.data() + element.size(), value);
    return wrong == std::errc{} && value >= 0 ? std::min(value, 1.0) : 0;
  }
}

}  // namespace

double accepted_quality(std::string_view list, std::string_view name) {
  double most = 0;
  for (const std::string_view element : list_elements(list)) {
    if (equal_ignoring_case(media_type(element), name)) most = std::max(most, quality(element));
  }
  return most;
}

BodyForm wanted_form(const HttpRequest& request) {
  const std::string_view accepted = request.header("Accept");
  const double json = accepted_quality(accepted, json_type);
  const double flatbuffers = accepted_quality(accepted, flat_buffers_type);
  if (json == 0 && flatbuffers == 0) return sent_form(request).value_or(BodyForm::json);
  return flatbuffers > json ? BodyForm::flatbuffers : BodyForm::json;
}

Result<BodyForm> sent_form(const HttpRequest& request) {
  const std::string_view type = media_type(request.header("Content-Type"));
  if (type.empty() || equal_ignoring_case(type, json_type)) return BodyForm::json;
  if (equal_ignoring_case(type, flat_buffers_type)) return BodyForm::flatbuffers;
  return bad_input("this body form is not understood: send Content-Type {} or {}", json_type,
                   flat_buffers_type);
}

HttpResponse error_response(BodyForm form, int status, std::string_view message) {
  HttpResponse response;
  response.status = status;
  if (form == BodyForm::flatbuffers) {
    flatbuffers::FlatBufferBuilder builder(256);
    const auto text = builder.CreateString(message.data(), message.size());
    builder.Finish(wire::CreateServingError(builder, static_cast<std::uint16_t>(status), text),
                   serving_identifier);
    response.content_type = flat_buffers_type;
    response.body.assign(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  } else {
    response.content_type = json_type;
    // What is not UTF-8 is replaced, never thrown about.
    response.body =
        nlohmann::json{{"error", message}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    response.body += '\n';
  }
  return response;
}

std::string error_text(const HttpResponse& response) {
  std::string text;
  if (equal_ignoring_case(media_type(response.content_type), flat_buffers_type)) {
    const std::string_view body = response.bytes();
    flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(body.data()), body.size());
    if (verifier.VerifyBuffer<wire::ServingError>(serving_identifier)) {
      text = flatbuffers::GetRoot<wire::ServingError>(body.data())->message()->str();
    }
  } else {
    const auto parsed = nlohmann::json::parse(response.bytes(), nullptr, false);
    if (parsed.is_object() && parsed.contains("error") && parsed["error"].is_string()) text = parsed["error"];
  }
  constexpr std::size_t most = 300;
  text.resize(std::min(text.size(), most));
  std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  return text.empty() ? std::string(reason_phrase(response.status)) : text;
}

HttpResponse json_response(std::string body, int status) {
  HttpResponse response;
  response.status = status;
  response.content_type = json_type;
  response.body = std::move(body);
  return response;
}

}  // namespace sotto::net
