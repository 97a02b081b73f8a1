#include "base/byte_source.h"

#ifdef SOTTO_HAVE_LZMA
#include <lzma.h>
#endif

namespace sotto {

#ifdef SOTTO_HAVE_LZMA

namespace {

// xz -9 needs 65 MiB; a file that asks for more than this is not one that people make.
constexpr std::uint64_t memory_limit = std::uint64_t{512} << 20;

class XzSource final : public ByteSource {
 public:
  explicit XzSource(FileInput& input) : input_(input) {}
  XzSource(const XzSource&) = delete;
  XzSource& operator=(const XzSource&) = delete;
  ~XzSource() override { lzma_end(&stream_); }

  Status start() {
    if (lzma_stream_decoder(&stream_, memory_limit, LZMA_CONCATENATED) == LZMA_OK) return {};
    return failed("cannot decompress {}: out of memory", input_.path().string());
  }

  Result<std::size_t> read(std::span<char> out) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    while (stream_.avail_out == out.size() && !finished_) {
      SOTTO_TRY(const auto at_hand, input_.peek());
      stream_.next_in = reinterpret_cast<const std::uint8_t*>(at_hand.data());
      stream_.avail_in = at_hand.size();
      const lzma_ret outcome = lzma_code(&stream_, at_hand.empty() ? LZMA_FINISH : LZMA_RUN);
      input_.consume(at_hand.size() - stream_.avail_in);
      if (outcome == LZMA_STREAM_END) {
        finished_ = true;
      } else if (outcome != LZMA_OK) {
        return explain(outcome);
      }
    }
    return out.size() - stream_.avail_out;
  }

 private:
  tl::unexpected<Error> explain(lzma_ret outcome) const {
    const auto name = input_.path().string();
    switch (outcome) {
      case LZMA_BUF_ERROR:
        return bad_input("{} is cut off: its xz data has no end; copy or download it again", name);
      case LZMA_MEMLIMIT_ERROR:
        return bad_input("{} needs more than {} MiB to decompress; compress it again with 'xz -9' or less",
                         name, memory_limit >> 20);
      case LZMA_MEM_ERROR:
        return failed("cannot decompress {}: out of memory", name);
      case LZMA_OPTIONS_ERROR:
        return bad_input("{} uses xz options that this liblzma does not know; compress it again with 'xz'",
                         name);
      default:
        return bad_input("{} is corrupt: its xz data is damaged; copy or download it again", name);
    }
  }

  FileInput& input_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool finished_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> decode_xz(FileInput& input) {
  auto source = std::make_unique<XzSource>(input);
  SOTTO_CHECK(source->start());
  return source;
}

#else

Result<std::unique_ptr<ByteSource>> decode_xz(FileInput& input) {
  return bad_input("{} is xz-compressed and this program was built without liblzma; run 'xz -dk' on it first",
                   input.path().string());
}

#endif

}  // namespace sotto
