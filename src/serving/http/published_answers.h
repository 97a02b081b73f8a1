#pragma once
// What everybody gets alike, encoded and compressed once: answers from public lists, and device packs.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "device/pack/device_pack.h"
#include "net/published_body.h"
#include "serving/index/published.h"

namespace sotto::serving {

// Answers that everybody gets alike (the public lists), encoded and compressed once for as long as the pool
// stays the same.
//
// Thread-safe. Holds a bounded number of bytes: what was asked for first leaves first.
class AnswerCache {
 public:
  using Answer = std::shared_ptr<const net::PublishedBody>;
  explicit AnswerCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // state: number of the pool's changes. Null when this was not asked for in that state.
  Answer find(const std::string& question, std::uint64_t state);
  // state: as read before the answer was computed.
  void keep(const std::string& question, std::uint64_t state, Answer answer);

 private:
  const std::size_t most_bytes_;
  std::mutex mutex_;
  std::uint64_t state_ = 0;
  std::size_t bytes_ = 0;
  std::unordered_map<std::string, Answer> answers_;
  std::deque<std::string> order_;
};

// The device pack as the server hands it out: the newest one, and what changed since the few before it.
//
// publish() is for one thread at a time and takes a while; reading is safe from any thread and waits for
// nothing. Published bytes are immutable and shared.
class PackPublisher {
 public:
  using Body = std::shared_ptr<const net::PublishedBody>;
  struct Edition {
    std::string version;  // hash of the bytes; empty: nothing is published yet
    Body pack;
    std::map<std::string, Body> deltas;  // from those versions to this one
  };

  PackPublisher();
  // The same pack again changes nothing. `before_others` is given the bytes first: after an error of it
  // nothing is published.
  Status publish(const device::DevicePack& pack,
                 const std::function<Status(std::string_view bytes)>& before_others = {});
  std::shared_ptr<const Edition> latest() const { return latest_.take(); }

 private:
  std::vector<std::shared_ptr<const Edition>> earlier_;  // oldest first, without their deltas
  Published<Edition> latest_;
};

}  // namespace sotto::serving
