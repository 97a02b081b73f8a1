#include "net/address_limits.h"

#include <algorithm>
#include <string_view>

namespace sotto {

namespace {

AddressLimits::Address subscriber(AddressLimits::Address address) {
  static constexpr std::array<unsigned char, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (!std::equal(mapped.begin(), mapped.end(), address.begin())) {
    std::fill(address.begin() + 8, address.end(), static_cast<unsigned char>(0));
  }
  return address;
}

}  // namespace

std::size_t AddressLimits::Hash::operator()(const Address& address) const {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(address.data()), address.size()});
}

double AddressLimits::tokens_at(const Entry& entry, Clock::time_point now) const {
  const double seconds = std::max(0.0, std::chrono::duration<double>(now - entry.counted_at).count());
  return std::min(settings_.burst, entry.tokens + seconds * settings_.requests_per_second);
}

// Full buckets carry no information. When there are still too many, the others go too: their owners get one
// fresh burst, and memory stays bounded.
void AddressLimits::forget_idle(Clock::time_point now) {
  std::erase_if(entries_, [&](const auto& item) {
    return item.second.connections == 0 && tokens_at(item.second, now) >= settings_.burst;
  });
  if (entries_.size() - connected_ < settings_.max_idle / 2) return;
  std::erase_if(entries_, [](const auto& item) { return item.second.connections == 0; });
}

AddressLimits::Entry& AddressLimits::entry(const Address& address, Clock::time_point now) {
  const Address key = subscriber(address);
  if (const auto found = entries_.find(key); found != entries_.end()) return found->second;
  if (entries_.size() - connected_ >= settings_.max_idle) forget_idle(now);
  return entries_.emplace(key, Entry{0, settings_.burst, now}).first->second;
}

bool AddressLimits::connect(const Address& address, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  Entry& known = entry(address, now);
  if (settings_.connections > 0 && known.connections >= settings_.connections) return false;
  if (known.connections++ == 0) ++connected_;
  return true;
}

void AddressLimits::disconnect(const Address& address) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(subscriber(address));
  if (found == entries_.end() || --found->second.connections > 0) return;
  --connected_;
  if (settings_.requests_per_second <= 0) entries_.erase(found);
}

bool AddressLimits::request(const Address& address, Clock::time_point now) {
  if (settings_.requests_per_second <= 0) return true;
  const std::lock_guard lock(mutex_);
  Entry& known = entry(address, now);
  known.tokens = tokens_at(known, now);
  known.counted_at = std::max(known.counted_at, now);
  if (known.tokens < 1) return false;
  known.tokens -= 1;
  return true;
}

std::size_t AddressLimits::remembered() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace sotto
