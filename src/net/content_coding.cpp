#include "net/content_coding.h"

#include <algorithm>
#include <limits>
#include <memory>

#ifdef SOTTO_HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef SOTTO_HAVE_ZLIB
#include <zlib.h>
#endif

namespace sotto::net {

namespace {

std::optional<std::string> zstd([[maybe_unused]] std::string_view bytes, [[maybe_unused]] int effort) {
#ifdef SOTTO_HAVE_ZSTD
  std::string coded(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(coded.data(), coded.size(), bytes.data(), bytes.size(), effort);
  if (ZSTD_isError(size) != 0) return std::nullopt;
  coded.resize(size);
  return coded;
#else
  return std::nullopt;
#endif
}

std::optional<std::string> gzip([[maybe_unused]] std::string_view bytes, [[maybe_unused]] int effort) {
#ifdef SOTTO_HAVE_ZLIB
  constexpr int gzip_window = 15 + 16;  // 16: a gzip header instead of zlib's
  z_stream stream{};
  if (bytes.size() > std::numeric_limits<uInt>::max() ||
      deflateInit2(&stream, std::min(effort, 9), Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return std::nullopt;
  }
  std::string coded(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(coded.data());
  stream.avail_out = static_cast<uInt>(coded.size());
  const int outcome = deflate(&stream, Z_FINISH);
  coded.resize(stream.total_out);
  deflateEnd(&stream);
  if (outcome != Z_STREAM_END) return std::nullopt;
  return coded;
#else
  return std::nullopt;
#endif
}

}  // namespace

std::string_view name(ContentCoding coding) { return coding == ContentCoding::zstd ? "zstd" : "gzip"; }

std::optional<std::string> compress(ContentCoding coding, std::string_view bytes, int effort) {
  auto coded = coding == ContentCoding::zstd ? zstd(bytes, effort) : gzip(bytes, effort);
  if (!coded || coded->size() > bytes.size() - bytes.size() / 20) return std::nullopt;
  coded->shrink_to_fit();
  return coded;
}

Result<std::string> decompress_zstd([[maybe_unused]] std::string_view bytes,
                                    [[maybe_unused]] std::size_t limit) {
#ifdef SOTTO_HAVE_ZSTD
  const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (!context) return failed("cannot decompress an answer: out of memory");
  ZSTD_inBuffer source{bytes.data(), bytes.size(), 0};
  std::string plain;
  std::size_t outcome = 1;
  while (outcome != 0) {
    // Grows with what has been decoded, not with what the bytes announce.
    const std::size_t before = plain.size();
    plain.resize(std::min(limit + 1, std::max<std::size_t>(2 * before, std::size_t{64} << 10)));
    ZSTD_outBuffer target{plain.data(), plain.size(), before};
    outcome = ZSTD_decompressStream(context.get(), &target, &source);
    plain.resize(target.pos);
    if (ZSTD_isError(outcome) != 0) return failed("the zstd data of an answer is damaged");
    if (plain.size() > limit) return failed("an answer becomes larger than the {} bytes allowed", limit);
    if (outcome != 0 && plain.size() == before && source.pos == source.size) {
      return failed("the zstd data of an answer is cut off");
    }
  }
  if (source.pos != source.size) return failed("the zstd data of an answer is followed by something else");
  return plain;
#else
  return failed("this program was built without libzstd");
#endif
}

}  // namespace sotto::net
