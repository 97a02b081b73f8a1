#include "net/address_limits.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "net/http_text.h"

namespace sotto::net {

namespace {

constexpr int mapped_bits = 96;  // of ::ffff:0:0/96, in front of an IPv4 address

bool is_v4_text(std::string_view text) { return text.find(':') == std::string_view::npos; }

// As proxies name whom they ask for: "192.0.2.1", "192.0.2.1:5678", "2001:db8::1", "[2001:db8::1]" or
// "[2001:db8::1]:5678", perhaps in quotes.
std::optional<PeerAddress> parse_forwarded(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view behind = text.substr(end + 1);
    if (!behind.empty() && behind.front() != ':') return std::nullopt;
    return parse_address(text.substr(1, end - 1));
  }
  const std::size_t colon = text.find(':');
  const bool has_port =
      colon != std::string_view::npos && text.find(':', colon + 1) == std::string_view::npos;
  return parse_address(has_port ? text.substr(0, colon) : text);
}

}  // namespace

std::optional<PeerAddress> parse_address(std::string_view text) {
  PeerAddress address{};
  if (text.size() > INET6_ADDRSTRLEN) return std::nullopt;
  const std::string ended(text);
  if (inet_pton(AF_INET6, ended.c_str(), address.data()) == 1) return address;
  address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (inet_pton(AF_INET, ended.c_str(), address.data() + mapped_bits / 8) == 1) return address;
  return std::nullopt;
}

Result<TrustedProxies> TrustedProxies::parse(std::string_view list) {
  TrustedProxies proxies;
  for (const std::string_view element : list_elements(list)) {
    const std::string_view text = element.substr(0, element.find('/'));
    const auto address = parse_address(text);
    const int before = is_v4_text(text) ? mapped_bits : 0;
    Network network{address.value_or(PeerAddress{}), 128};
    bool good = address.has_value();
    if (good && text.size() < element.size()) {
      const std::string_view bits = element.substr(text.size() + 1);
      const auto [end, wrong] = std::from_chars(bits.data(), bits.data() + bits.size(), network.bits);
      good = wrong == std::errc{} && end == bits.data() + bits.size() && network.bits >= 0 &&
             network.bits <= 128 - before;
      if (good) network.bits += before;
    }
    if (!good) {
      return bad_input(
          "\"{}\" in --trusted-proxies is no address: write 10.0.0.7, 192.0.2.0/24 or 2001:db8::/32",
          element);
    }
    proxies.networks_.push_back(network);
  }
  return proxies;
}

bool TrustedProxies::contain(const PeerAddress& address) const {
  return std::any_of(networks_.begin(), networks_.end(), [&](const Network& network) {
    const auto bit = [](const PeerAddress& of, int i) {
      return (of[static_cast<std::size_t>(i) / 8] >> (7 - i % 8)) & 1;
    };
    for (int i = 0; i < network.bits; ++i) {
      if (bit(address, i) != bit(network.address, i)) return false;
    }
    return true;
  });
}

PeerAddress TrustedProxies::client_of(const PeerAddress& peer, std::string_view forwarded_for) const {
  PeerAddress client = peer;
  while (!forwarded_for.empty() && contain(client)) {
    const std::size_t comma = forwarded_for.rfind(',');
    const std::string_view last =
        trim_spaces(comma == std::string_view::npos ? forwarded_for : forwarded_for.substr(comma + 1));
    forwarded_for = comma == std::string_view::npos ? std::string_view{} : forwarded_for.substr(0, comma);
    const auto address = parse_forwarded(last);
    if (!address) break;
    client = *address;
  }
  return client;
}

PeerAddress subscriber(PeerAddress address) {
  static constexpr std::array<unsigned char, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (!std::equal(mapped.begin(), mapped.end(), address.begin())) {
    std::fill(address.begin() + 8, address.end(), static_cast<unsigned char>(0));
  }
  return address;
}

std::size_t AddressHash::operator()(const PeerAddress& address) const {
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
  count(known);
  return true;
}

void AddressLimits::connect_instead(const Address& address, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  count(entry(address, now));
}

void AddressLimits::count(Entry& entry) {
  if (entry.connections++ == 0) ++connected_;
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

}  // namespace sotto::net
