#include "net/peer_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "net/http_text.h"

namespace sotto {

namespace {

constexpr int mapped_bits = 96;  // of ::ffff:0:0/96, in front of an IPv4 address

bool is_v4_text(std::string_view text) { return text.find(':') == std::string_view::npos; }

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
    const auto address = parse_address(last);
    if (!address) break;
    client = *address;
  }
  return client;
}

}  // namespace sotto
