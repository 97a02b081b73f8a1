#include "base/byte_source.h"

#ifdef SOTTO_HAVE_ZLIB
#include <zlib.h>

#include <algorithm>
#include <limits>
#endif

namespace sotto {

#ifdef SOTTO_HAVE_ZLIB

namespace {

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(FileInput& input) : input_(input) {}
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { inflateEnd(&stream_); }

  Status start() {
    constexpr int window_bits = 15, gzip_format = 16;
    if (inflateInit2(&stream_, window_bits + gzip_format) == Z_OK) return {};
    return failed("cannot decompress {}: out of memory", input_.path().string());
  }

  Result<std::size_t> read(std::span<char> out) override {
    const auto room = static_cast<uInt>(std::min<std::size_t>(out.size(), std::numeric_limits<uInt>::max()));
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = room;
    while (stream_.avail_out == room) {
      SOTTO_TRY(const auto at_hand, input_.peek());
      if (member_ended_) {
        if (at_hand.empty()) return std::size_t{0};
        inflateReset(&stream_);  // another member follows
        member_ended_ = false;
      }
      stream_.next_in = reinterpret_cast<z_const Bytef*>(const_cast<char*>(at_hand.data()));
      stream_.avail_in = static_cast<uInt>(at_hand.size());
      const int outcome = inflate(&stream_, Z_NO_FLUSH);
      input_.consume(at_hand.size() - stream_.avail_in);
      if (outcome == Z_STREAM_END) {
        member_ended_ = true;
      } else if (outcome == Z_BUF_ERROR && at_hand.empty()) {
        return bad_input("{} is cut off: its gzip data has no end; copy or download it again",
                         input_.path().string());
      } else if (outcome == Z_MEM_ERROR) {
        return failed("cannot decompress {}: out of memory", input_.path().string());
      } else if (outcome != Z_OK) {
        return bad_input("{} is corrupt: its gzip data is damaged; copy or download it again",
                         input_.path().string());
      }
    }
    return room - stream_.avail_out;
  }

 private:
  FileInput& input_;
  z_stream stream_{};
  bool member_ended_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> decode_gzip(FileInput& input) {
  auto source = std::make_unique<GzipSource>(input);
  SOTTO_CHECK(source->start());
  return source;
}

#else

Result<std::unique_ptr<ByteSource>> decode_gzip(FileInput& input) {
  return bad_input(
      "{} is gzip-compressed and this program was built without zlib; run 'gzip -dk' on it first",
      input.path().string());
}

#endif

}  // namespace sotto
