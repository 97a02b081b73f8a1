#include <bit>
#include <cmath>
#include <limits>

#include "device/history/history_store.h"
#include "privacy/ledger/byte_codec.h"
#include "privacy/ledger/printable.h"

namespace sotto {

std::string encode(const std::vector<StoredClick>& clicks) {
  ByteWriter writer;
  writer.number(static_cast<std::uint32_t>(clicks.size()));
  for (const StoredClick& click : clicks) {
    writer.text(click.item);
    writer.text(click.category);
    writer.number(static_cast<std::uint64_t>(click.time.time_since_epoch().count()));
    writer.text(click.model);
    writer.number(std::bit_cast<std::uint32_t>(click.scale));
    writer.number(static_cast<std::uint16_t>(click.numbers.size()));
    writer.raw({reinterpret_cast<const char*>(click.numbers.data()), click.numbers.size()});
  }
  return std::move(writer).take();
}

Result<std::vector<StoredClick>> decode_clicks(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto count = reader.number<std::uint32_t>();
  constexpr std::size_t smallest = 2 + 2 + 8 + 2 + 4 + 2;
  if (count > bytes.size() / smallest) return bad_input("the history is shorter than it says");
  std::vector<StoredClick> clicks;
  clicks.reserve(count);
  for (std::uint32_t i = 0; i < count && reader.good(); ++i) {
    StoredClick click;
    click.item = reader.text();
    click.category = reader.text();
    const auto seconds = reader.number<std::uint64_t>();
    if (seconds > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return bad_input("the history holds a click at an impossible time");
    }
    click.time = UtcTime(std::chrono::seconds(static_cast<std::int64_t>(seconds)));
    SOTTO_CHECK(validate(click.time));
    click.model = reader.text();
    click.scale = std::bit_cast<float>(reader.number<std::uint32_t>());
    const std::string_view numbers = reader.raw(reader.number<std::uint16_t>());
    click.numbers.assign(numbers.begin(), numbers.end());
    if (click.item.empty() || !is_printable(click.item) || !is_printable(click.category) ||
        !is_printable(click.model) ||
        !(click.scale >= 0 && click.scale <= std::numeric_limits<float>::max() / 128)) {
      return bad_input("the history holds a click that makes no sense");
    }
    clicks.push_back(std::move(click));
  }
  if (!reader.complete()) return bad_input("the history is cut off or has something behind its end");
  return clicks;
}

}  // namespace sotto
