#pragma once
// Short codes for names, given in the order in which they first appear. The empty name has code 0.
// Not thread-safe.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sotto::serving {

class NameCodes {
 public:
  std::optional<std::uint16_t> find(std::string_view name) const {
    const auto at = codes_.find(std::string(name));
    if (at == codes_.end()) return std::nullopt;
    return at->second;
  }
  // No value when all codes are taken.
  std::optional<std::uint16_t> find_or_add(std::string_view name) {
    if (const auto known = find(name)) return known;
    if (codes_.size() > std::numeric_limits<std::uint16_t>::max()) return std::nullopt;
    const auto code = static_cast<std::uint16_t>(codes_.size());
    codes_.emplace(name, code);
    return code;
  }

 private:
  std::unordered_map<std::string, std::uint16_t> codes_{{"", 0}};
};

}  // namespace sotto::serving
