#include "base/byte_source.h"
#ifdef SOTTO_HAVE_ZLIB
#include <zlib.h>

#include <algorithm>
#include <limits>
#endif
#ifdef SOTTO_HAVE_LZMA
#include <lzma.h>
#endif
#ifdef SOTTO_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
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
