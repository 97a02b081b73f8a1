#pragma once
// Bytes that many ask for, kept once, in the forms in which they are handed out: as they are, or compressed
// when the client can take that and it is worth it.
//
// respond() answers 304 to whoever has them (If-None-Match), a part to whoever wants one (a single Range,
// with If-Range), and chooses the coding by Accept-Encoding. Each coding has a tag of its own, so that a
// transfer that broke off goes on with the bytes it began with. Immutable: safe from any thread.

#include <memory>
#include <string>
#include <string_view>

#include "net/http_message.h"
#include "net/kept_bytes.h"

namespace sotto::net {

class PublishedBody {
 public:
  // tag: names the bytes; holds neither quotes nor control characters. effort: of compressing, 1 to 19; 0:
  // not at all.
  PublishedBody(std::string bytes, std::string_view tag, std::string_view content_type, int effort);
  ~PublishedBody();  // whoever still hands the bytes out is charged for them from now on
  PublishedBody(const PublishedBody&) = delete;
  PublishedBody& operator=(const PublishedBody&) = delete;

  HttpResponse respond(const HttpRequest& request) const;
  // Does If-None-Match name these bytes, in any coding, weakly or not, or is it "*"?
  bool client_has(const HttpRequest& request) const;

  const std::string& tag() const { return tag_; }
  const std::string& bytes() const { return plain_->bytes; }
  std::size_t held_bytes() const;  // all forms together

 private:
  using Bytes = std::shared_ptr<KeptBytes>;
  std::string tag_, content_type_;
  Bytes plain_, zstd_, gzip_;  // a coding that does not help is null
};

// "\"tag\"": the strong form.
std::string quote_etag(std::string_view tag);

}  // namespace sotto::net
