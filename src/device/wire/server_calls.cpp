#include "device/wire/server_calls.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "device/wire/pack_tables.h"
#include "proto/serving_generated.h"

namespace sotto::device {

namespace {

constexpr std::string_view flat_buffers = "application/x-flatbuffers";

std::string percent_encode(std::string_view text) {
  std::string encoded;
  for (const char letter : text) {
    const bool plain = (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= 'a' && letter <= 'z') ||
                       std::string_view("-._~").find(letter) != std::string_view::npos;
    encoded += plain ? std::string(1, letter) : fmt::format("%{:02X}", static_cast<unsigned char>(letter));
  }
  return encoded;
}

ServerCall get(std::string path) {
  return {"GET", std::move(path), {{"Accept", std::string(flat_buffers)}}, {}};
}

ServerCall post(std::string path, std::string body) {
  return {"POST",
          std::move(path),
          {{"Accept", std::string(flat_buffers)}, {"Content-Type", std::string(flat_buffers)}},
          std::move(body)};
}

}  // namespace

ServerCall pack_call(std::string_view installed) {
  if (installed.empty()) return get("/v1/pack");
  ServerCall call = get("/v1/pack?from=" + percent_encode(installed));
  call.headers.emplace_back("If-None-Match", fmt::format("\"{}\"", installed));
  return call;
}

ServerCall recommend_call(std::string body) { return post("/v1/recommend", std::move(body)); }
ServerCall guide_call(std::string_view version) { return get("/v1/blind/" + percent_encode(version)); }
ServerCall blind_call(std::string body) { return post("/v1/blind", std::move(body)); }

ServerCall item_call(std::string_view id) { return get("/v1/items/" + percent_encode(id)); }

ServerCall log_proof_call(std::string_view kind, std::string_view hash, std::uint64_t from) {
  return get(fmt::format("/v1/log/proof?kind={}&hash={}&from={}", kind, hash, from));
}

std::string error_text(const ServerAnswer& answer) {
  std::string text;
  const AlignedBytes aligned(answer.body);
  flatbuffers::Verifier verifier(aligned.data(), aligned.size());
  if (verifier.VerifyBuffer<wire::ServingError>(pack_tables::pack_identifier)) {
    text = flatbuffers::GetRoot<wire::ServingError>(aligned.data())->message()->str();
  } else {
    const auto parsed = nlohmann::json::parse(answer.body, nullptr, false);
    if (parsed.is_object() && parsed.contains("error") && parsed["error"].is_string()) text = parsed["error"];
  }
  constexpr std::size_t most = 300;
  text.resize(std::min(text.size(), most));
  std::erase_if(text,
                [](char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f; });
  return text.empty() ? "and does not say why" : text;
}

tl::unexpected<Error> refused(std::string_view who, const ServerAnswer& answer) {
  return failed("the {} answers {}: {}", who, answer.status, error_text(answer));
}

}  // namespace sotto::device
