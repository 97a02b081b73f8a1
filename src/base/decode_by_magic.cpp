#include <algorithm>
#include <array>
#include <string_view>

#include "base/byte_source.h"

namespace sotto {

namespace {

using namespace std::string_view_literals;

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(FileInput& input) : input_(input) {}
  Result<std::size_t> read(std::span<char> out) override {
    SOTTO_TRY(const auto at_hand, input_.peek());
    const std::size_t bytes = std::min(out.size(), at_hand.size());
    std::copy_n(at_hand.begin(), bytes, out.begin());
    input_.consume(bytes);
    return bytes;
  }

 private:
  FileInput& input_;
};

struct Format {
  std::string_view magic;
  std::string_view extension;
  Result<std::unique_ptr<ByteSource>> (*decode)(FileInput&);
};

constexpr std::array formats = {
    Format{"\xFD"
           "7zXZ\0"sv,
           ".xz", decode_xz},
    Format{"\x1F\x8B"sv, ".gz", decode_gzip},
    Format{"\x28\xB5\x2F\xFD"sv, ".zst", decode_zstd},
};
constexpr std::size_t longest_magic = 6;

// Tools that compress in parallel put a skippable frame (0x184D2A50 to 0x184D2A5F) in front.
bool is_zstd_skippable(std::string_view start) {
  return start.size() >= 4 && (start[0] & 0xF0) == 0x50 && start.substr(1, 3) == "\x2A\x4D\x18"sv;
}

}  // namespace

Result<std::unique_ptr<ByteSource>> decode_by_magic(FileInput& input) {
  SOTTO_TRY(const auto at_hand, input.peek_at_least(longest_magic));
  const std::string_view start(at_hand.data(), at_hand.size());
  for (const Format& format : formats) {
    if (start.starts_with(format.magic)) return format.decode(input);
    // Cut off inside the signature the file would pass for a short text.
    if (input.path().extension() == format.extension && format.magic.starts_with(start)) {
      return bad_input("{} is cut off: it has only {} bytes; copy or download it again",
                       input.path().string(), start.size());
    }
  }
  if (is_zstd_skippable(start)) return decode_zstd(input);
  return std::make_unique<PlainSource>(input);
}

}  // namespace sotto
