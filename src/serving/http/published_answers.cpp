#include "serving/http/published_answers.h"

#include "device/wire/pack_codec.h"
#include "net/negotiation.h"

namespace sotto::serving {

AnswerCache::Answer AnswerCache::find(const std::string& question, std::uint64_t state) {
  const std::lock_guard lock(mutex_);
  const auto found = state == state_ ? answers_.find(question) : answers_.end();
  return found == answers_.end() ? nullptr : found->second;
}

void AnswerCache::keep(const std::string& question, std::uint64_t state, Answer answer) {
  const std::lock_guard lock(mutex_);
  if (state < state_) return;
  if (state > state_) {
    answers_.clear();
    order_.clear();
    bytes_ = 0;
    state_ = state;
  }
  const std::size_t size = answer->held_bytes();
  if (size > most_bytes_ || !answers_.emplace(question, std::move(answer)).second) return;
  order_.push_back(question);
  bytes_ += size;
  while (bytes_ > most_bytes_) {
    const auto oldest = answers_.find(order_.front());
    bytes_ -= oldest->second->held_bytes();
    answers_.erase(oldest);
    order_.pop_front();
  }
}

namespace {

constexpr std::size_t editions_with_delta = 4;
constexpr int pack_effort = 9;  // of compressing: once for all devices

}  // namespace

PackPublisher::PackPublisher() : latest_(std::make_shared<const Edition>()) {}

Status PackPublisher::publish(const device::DevicePack& pack,
                              const std::function<Status(std::string_view bytes)>& before_others) {
  SOTTO_TRY(std::string bytes, device::encode_pack(pack));
  auto next = std::make_shared<Edition>();
  SOTTO_TRY(next->version, device::pack_version(bytes));
  const auto before = latest_.take();
  if (before->version == next->version) return {};
  if (before_others) SOTTO_CHECK(before_others(bytes));
  next->pack = std::make_shared<const net::PublishedBody>(std::move(bytes), next->version,
                                                          net::flat_buffers_type, pack_effort);
  if (before->pack) {
    earlier_.push_back(std::make_shared<const Edition>(Edition{before->version, before->pack, {}}));
  }
  if (earlier_.size() > editions_with_delta) earlier_.erase(earlier_.begin());
  for (const auto& old : earlier_) {
    // Another model, or a pool that changed throughout: the whole pack is what helps then.
    auto delta = device::encode_delta(old->pack->bytes(), next->pack->bytes());
    if (delta && delta->size() < next->pack->bytes().size()) {
      next->deltas[old->version] = std::make_shared<const net::PublishedBody>(
          std::move(*delta), next->version + "-from-" + old->version, net::flat_buffers_type, pack_effort);
    }
  }
  latest_.replace(std::move(next));
  return {};
}

}  // namespace sotto::serving
