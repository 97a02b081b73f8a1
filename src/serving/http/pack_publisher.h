#pragma once
// The device pack as the server hands it out: the newest one, and what changed since the few before it.
//
// publish() is for one thread at a time and takes a while; reading is safe from any thread and waits for
// nothing. Published bytes are immutable and shared.

#include <map>
#include <memory>
#include <string>

#include "device/pack/device_pack.h"
#include "net/published_body.h"
#include "serving/index/published.h"

namespace sotto::serving {

class PackPublisher {
 public:
  using Body = std::shared_ptr<const PublishedBody>;
  struct Edition {
    std::string version;  // hash of the bytes; empty: nothing is published yet
    Body pack;
    std::map<std::string, Body> deltas;  // from those versions to this one
  };

  PackPublisher();
  // The same pack again changes nothing.
  Status publish(const DevicePack& pack);
  std::shared_ptr<const Edition> latest() const { return latest_.take(); }

 private:
  std::vector<std::shared_ptr<const Edition>> earlier_;  // oldest first, without their deltas
  Published<Edition> latest_;
};

}  // namespace sotto::serving
