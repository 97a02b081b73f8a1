#pragma once
// The device pack as the server hands it out: the newest one, and what changed since the few before it.
//
// publish() is for one thread at a time and takes a while; reading is safe from any thread and waits for
// nothing. Published bytes are immutable and shared.

#include <map>
#include <memory>
#include <string>

#include "device/pack/device_pack.h"
#include "serving/index/published.h"

namespace sotto::serving {

class PackPublisher {
 public:
  using Bytes = std::shared_ptr<const std::string>;
  struct Edition {
    std::string version;  // hash of the bytes; empty: nothing is published yet
    Bytes bytes;
    std::map<std::string, Bytes> deltas;  // from those versions to this one
  };

  PackPublisher();
  // The same pack again changes nothing.
  Status publish(const DevicePack& pack);
  std::shared_ptr<const Edition> latest() const { return latest_.take(); }

 private:
  std::vector<std::pair<std::string, Bytes>> earlier_;  // oldest first
  Published<Edition> latest_;
};

}  // namespace sotto::serving
