#include "net/published_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "net/content_coding.h"
#include "net/http_text.h"
#include "net/negotiation.h"

namespace sotto::net {

namespace {

std::shared_ptr<KeptBytes> compressed(ContentCoding coding, std::string_view bytes, int effort) {
  if (effort == 0) return nullptr;
  auto coded = compress(coding, bytes, effort);
  return coded ? std::make_shared<KeptBytes>(std::move(*coded)) : nullptr;
}

std::optional<std::size_t> whole_number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || wrong != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct ByteRange {
  std::size_t begin = 0, end = 0;  // begin == end: there is no such part
};

// "bytes=0-99", "bytes=100-", "bytes=-100". Nothing for anything else, several ranges too: then the whole is
// sent, as the standard allows.
std::optional<ByteRange> single_range(std::string_view field, std::size_t size) {
  constexpr std::string_view unit = "bytes=";
  if (!field.starts_with(unit)) return std::nullopt;
  field.remove_prefix(unit.size());
  const std::size_t dash = field.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = whole_number(field.substr(0, dash));
  const auto last = whole_number(field.substr(dash + 1));
  if (dash == 0) {
    if (!last) return std::nullopt;
    return ByteRange{size - std::min(size, *last), size};
  }
  if (!first || (!last && dash + 1 < field.size()) || (last && *last < *first)) return std::nullopt;
  if (*first >= size) return ByteRange{};
  return ByteRange{*first, last && *last < size ? *last + 1 : size};
}

}  // namespace

std::string quote_etag(std::string_view tag) { return '"' + std::string(tag) + '"'; }

PublishedBody::PublishedBody(std::string bytes, std::string_view tag, std::string_view content_type,
                             int effort)
    : tag_(tag),
      content_type_(content_type),
      plain_(std::make_shared<KeptBytes>(std::move(bytes))),
      zstd_(compressed(ContentCoding::zstd, plain_->bytes, effort)),
      gzip_(compressed(ContentCoding::gzip, plain_->bytes, effort)) {}

PublishedBody::~PublishedBody() {
  for (const Bytes& form : {plain_, zstd_, gzip_}) {
    if (form) form->let_go();
  }
}

std::size_t PublishedBody::held_bytes() const {
  std::size_t held = 0;
  for (const Bytes& form : {plain_, zstd_, gzip_}) held += form ? form->bytes.capacity() : 0;
  return held;
}

bool PublishedBody::client_has(const HttpRequest& request) const {
  const auto elements = list_elements(request.header("If-None-Match"));
  return std::any_of(elements.begin(), elements.end(), [&](std::string_view element) {
    if (element.starts_with("W/")) element.remove_prefix(2);
    return element == "*" || element == quote_etag(tag_) || element == quote_etag(tag_ + "-zstd") ||
           element == quote_etag(tag_ + "-gzip");
  });
}

HttpResponse PublishedBody::respond(const HttpRequest& request) const {
  const std::string_view accepted = request.header("Accept-Encoding");
  const double zstd = zstd_ ? accepted_quality(accepted, "zstd") : 0;
  const double gzip = gzip_ ? accepted_quality(accepted, "gzip") : 0;
  HttpResponse response;
  response.shared_body = plain_;
  std::string tag = tag_;
  if (zstd > 0 || gzip > 0) {
    const std::string_view coding = name(zstd >= gzip ? ContentCoding::zstd : ContentCoding::gzip);
    response.shared_body = zstd >= gzip ? zstd_ : gzip_;
    response.headers.emplace_back("Content-Encoding", coding);
    tag.append("-").append(coding);
  }
  response.content_type = content_type_;
  response.headers.emplace_back("ETag", quote_etag(tag));
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (client_has(request)) {
    response.status = 304;
    response.shared_body.reset();
    return response;
  }
  response.headers.emplace_back("Accept-Ranges", "bytes");
  const std::size_t size = response.shared_body->bytes.size();
  const auto range = single_range(request.header("Range"), size);
  const std::string_view only_if = request.header("If-Range");
  if (!range || request.method != HttpMethod::get || (!only_if.empty() && only_if != quote_etag(tag)))
    return response;
  if (range->begin == range->end) {
    response = error_response(request, 416, "the range lies behind the end");
    response.headers.emplace_back("Content-Range", fmt::format("bytes */{}", size));
    return response;
  }
  response.status = 206;
  response.slice_begin = range->begin;
  response.slice_size = range->end - range->begin;
  response.headers.emplace_back("Content-Range",
                                fmt::format("bytes {}-{}/{}", range->begin, range->end - 1, size));
  return response;
}

}  // namespace sotto::net
