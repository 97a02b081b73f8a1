#pragma once
// Compressors for tests of the decompressors. compressions() lists the formats this build can read.

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#ifdef SOTTO_HAVE_LZMA
#include <lzma.h>
#endif
#ifdef SOTTO_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef SOTTO_HAVE_ZSTD
#include <zstd.h>
#endif

namespace sotto {

struct Compression {
  std::string extension;
  std::string (*compress)(std::string_view);
};

#ifdef SOTTO_HAVE_LZMA
inline std::string compress_xz(std::string_view text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  const auto outcome = lzma_easy_buffer_encode(
      6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const unsigned char*>(text.data()), text.size(),
      reinterpret_cast<unsigned char*>(out.data()), &size, out.size());
  if (outcome != LZMA_OK) throw std::runtime_error("xz");
  out.resize(size);
  return out;
}
#endif

#ifdef SOTTO_HAVE_ZLIB
inline std::string compress_gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("gzip");
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<unsigned>(text.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  const int outcome = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (outcome != Z_STREAM_END) throw std::runtime_error("gzip");
  return out;
}
#endif

#ifdef SOTTO_HAVE_ZSTD
inline std::string compress_zstd(std::string_view text) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size());
  ZSTD_freeCCtx(context);
  if (ZSTD_isError(size) != 0) throw std::runtime_error("zstd");
  out.resize(size);
  return out;
}
#endif

inline std::vector<Compression> compressions() {
  std::vector<Compression> all;
#ifdef SOTTO_HAVE_LZMA
  all.push_back({".xz", compress_xz});
#endif
#ifdef SOTTO_HAVE_ZLIB
  all.push_back({".gz", compress_gzip});
#endif
#ifdef SOTTO_HAVE_ZSTD
  all.push_back({".zst", compress_zstd});
#endif
  return all;
}

}  // namespace sotto
