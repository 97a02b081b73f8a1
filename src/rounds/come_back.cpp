#include "rounds/come_back.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace sotto::rounds {

namespace {

using std::chrono::milliseconds;

constexpr double spare = 1.3;  // devices that come for one that is needed
constexpr milliseconds soonest{200};

}  // namespace

std::string to_text(const ComeBack& come_back) {
  return fmt::format("{}={}", come_back.how == ComeBack::How::meet ? "meet" : "spread",
                     come_back.time.count());
}

std::optional<ComeBack> parse_come_back(std::string_view text) {
  ComeBack come_back;
  if (text.starts_with("meet=")) {
    come_back.how = ComeBack::How::meet;
    text.remove_prefix(5);
  } else if (text.starts_with("spread=")) {
    text.remove_prefix(7);
  } else {
    return std::nullopt;
  }
  std::int64_t time = -1;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), time);
  if (wrong != std::errc() || end != text.data() + text.size() || time < 0 || time > latest_come_back.count())
    return std::nullopt;
  come_back.time = milliseconds(time);
  return come_back;
}

milliseconds draw(const ComeBack& come_back, RandomSource& random) {
  if (come_back.how == ComeBack::How::meet) return come_back.time;
  const double share = static_cast<double>(random() >> 11) * 0x1p-53;
  return milliseconds(static_cast<std::int64_t>((0.5 + share) * static_cast<double>(come_back.time.count())));
}

std::optional<ComeBack> steer(const Crowd& crowd) {
  const double needed = spare * static_cast<double>(std::max<std::uint64_t>(crowd.cohort, 1));
  const double periods = static_cast<double>(crowd.devices) / needed;  // between two visits of a device
  if (periods < 2) {
    if (!crowd.next) return std::nullopt;
    return ComeBack{ComeBack::How::meet, std::clamp(*crowd.next, soonest, latest_come_back)};
  }
  const double time = periods * static_cast<double>(crowd.period.count());
  // Half as long again is still within a day.
  const auto most = static_cast<double>(latest_come_back.count()) / 1.5;
  return ComeBack{ComeBack::How::spread, milliseconds(static_cast<std::int64_t>(std::clamp(
                                             time, static_cast<double>(2 * soonest.count()), most)))};
}

}  // namespace sotto::rounds
