#include "base/byte_source.h"

#ifdef SOTTO_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

namespace sotto {

#ifdef SOTTO_HAVE_ZSTD

namespace {

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(FileInput& input) : input_(input), context_(ZSTD_createDCtx()) {}

  Status start() {
    if (context_) return {};
    return failed("cannot decompress {}: out of memory", input_.path().string());
  }

  Result<std::size_t> read(std::span<char> out) override {
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    while (output.pos == 0) {
      SOTTO_TRY(const auto at_hand, input_.peek());
      if (at_hand.empty() && !inside_frame_) return std::size_t{0};
      ZSTD_inBuffer source{at_hand.data(), at_hand.size(), 0};
      const std::size_t outcome = ZSTD_decompressStream(context_.get(), &output, &source);
      input_.consume(source.pos);
      if (ZSTD_isError(outcome) != 0) return explain(ZSTD_getErrorCode(outcome));
      inside_frame_ = outcome != 0;
      if (at_hand.empty() && inside_frame_ && output.pos == 0) {
        return bad_input("{} is cut off: its zstd data has no end; copy or download it again",
                         input_.path().string());
      }
    }
    return output.pos;
  }

 private:
  tl::unexpected<Error> explain(ZSTD_ErrorCode code) const {
    const auto name = input_.path().string();
    if (code == ZSTD_error_memory_allocation) return failed("cannot decompress {}: out of memory", name);
    if (code == ZSTD_error_frameParameter_windowTooLarge) {
      return bad_input("{} needs a window over 128 MiB to decompress; compress it again without --long",
                       name);
    }
    return bad_input("{} is corrupt: its zstd data is damaged ({}); copy or download it again", name,
                     ZSTD_getErrorString(code));
  }

  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  FileInput& input_;
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  bool inside_frame_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> decode_zstd(FileInput& input) {
  auto source = std::make_unique<ZstdSource>(input);
  SOTTO_CHECK(source->start());
  return source;
}

#else

Result<std::unique_ptr<ByteSource>> decode_zstd(FileInput& input) {
  return bad_input(
      "{} is zstd-compressed and this program was built without libzstd; run 'zstd -dk' on it first",
      input.path().string());
}

#endif

}  // namespace sotto
