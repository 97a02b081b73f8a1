#include "coordinator/http/blob_shelf.h"

#include <algorithm>

#include "base/chain_hash.h"
#include "net/negotiation.h"

namespace sotto::coordinator {

namespace {
constexpr int effort = 3;  // of compressing
}

void BlobShelf::put(const Digest& hash, std::string bytes, Stays stays) {
  {
    const std::lock_guard lock(mutex_);
    if (stays == Stays::while_new) {
      std::erase(order_, hash);
      order_.push_back(hash);
    }
    if (bodies_.contains(hash)) return;
  }
  // Compressing takes its time: others fetch meanwhile.
  auto body = std::make_shared<const net::PublishedBody>(std::move(bytes), to_hex(hash),
                                                         "application/octet-stream", effort);
  const std::lock_guard lock(mutex_);
  bodies_.emplace(hash, std::move(body));
  while (order_.size() > most) {
    bodies_.erase(order_.front());
    order_.pop_front();
  }
}

net::HttpResponse BlobShelf::respond(const net::HttpRequest& request) const {
  const auto hash = rounds::digest_from_hex(request.parameter("hash"), "the name of a blob");
  if (!hash) return net::error_response(request, 400, hash.error().message);
  std::shared_ptr<const net::PublishedBody> body;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = bodies_.find(*hash); found != bodies_.end()) body = found->second;
  }
  if (!body) return net::error_response(request, 404, "nothing of this name is handed out now");
  net::HttpResponse response = body->respond(request);
  response.headers.emplace_back("Cache-Control", "public, max-age=31536000, immutable");
  return response;
}

}  // namespace sotto::coordinator
