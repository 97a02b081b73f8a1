#pragma once
// Streams of bytes behind read_file and LineReader: a file as it is, or decompressed in bounded memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace sotto {

// Not thread-safe. After an error every further read() may only fail again.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills a part of the non-empty `out` and returns how much; 0 at the end.
  virtual Result<std::size_t> read(std::span<char> out) = 0;
};

// An open file (or pipe) with a look at its first bytes. Owns the descriptor.
class FileInput {
 public:
  static Result<FileInput> open(const fs::path& path);
  FileInput(FileInput&& other) noexcept;
  FileInput& operator=(FileInput&&) = delete;
  ~FileInput();

  // The unread bytes at hand; reads more from the file when there are none. Empty only at the end.
  Result<std::span<const char>> peek();
  void consume(std::size_t bytes) { begin_ += bytes; }
  // At least `bytes` unread bytes, fewer only when the file has no more. `bytes` is small.
  Result<std::span<const char>> peek_at_least(std::size_t bytes);

  std::uint64_t bytes_read() const { return bytes_read_; }
  const fs::path& path() const { return path_; }

 private:
  FileInput(int descriptor, fs::path path);
  Result<bool> read_more();

  int descriptor_;
  fs::path path_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::uint64_t bytes_read_ = 0;
};

// Decoders of one format each; several compressed parts one after the other are one stream. A build without
// the library returns an error that says so. `input` must outlive the decoder.
Result<std::unique_ptr<ByteSource>> decode_xz(FileInput& input);
Result<std::unique_ptr<ByteSource>> decode_gzip(FileInput& input);
Result<std::unique_ptr<ByteSource>> decode_zstd(FileInput& input);

// Chooses by the first bytes; anything unknown is plain. `input` must outlive the source.
Result<std::unique_ptr<ByteSource>> decode_by_magic(FileInput& input);

}  // namespace sotto
