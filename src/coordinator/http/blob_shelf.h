#pragma once
// What devices fetch by its hash: the versions that were trained on lately and the tables of items, ready to
// be handed out whole, in parts or compressed. Never changes under a name, so everybody may keep it.
// Thread-safe.

#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "coordinator/store/records.h"
#include "net/published_body.h"

namespace sotto::coordinator {

class BlobShelf {
 public:
  // Versions leave when so many came after them; tables stay.
  static constexpr std::size_t most = 8;

  enum class Stays { while_new, always };
  void put(const Digest& hash, std::string bytes, Stays stays);
  // /v1/blob/{hash}; 404 for what is not there, whatever else the coordinator may know.
  net::HttpResponse respond(const net::HttpRequest& request) const;

 private:
  mutable std::mutex mutex_;
  std::map<Digest, std::shared_ptr<const net::PublishedBody>> bodies_;
  std::deque<Digest> order_;
};

}  // namespace sotto::coordinator
