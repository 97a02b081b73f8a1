#pragma once
// Reading (plain, .gz, .xz, .zst by magic bytes) and atomic writing of files.
//
// The classes here own what they opened and can be moved; a moved-from one may only be destroyed or assigned
// to. None is thread-safe, except that the bytes of a MappedFile may be read by many threads.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sotto {

namespace fs = std::filesystem;

// The whole (decompressed) file. Refuses more than `limit` bytes so that a small bomb cannot fill the memory.
Result<std::string> read_file(const fs::path& path, std::uint64_t limit = std::uint64_t{4} << 30);

// Streams a text file line by line, decompressing as it goes. Strips "\n" and "\r\n"; a line longer than
// `max_line` bytes is an error. A missing file whose name plus .xz/.gz/.zst exists is opened as that.
class LineReader {
 public:
  static Result<LineReader> open(const fs::path& path, std::size_t max_line = std::size_t{64} << 20);
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;
  ~LineReader();

  // False at the end. The view lives until the next call.
  Result<bool> next(std::string_view& line);
  std::uint64_t line_number() const;            // of the line last returned, from 1
  std::uint64_t compressed_bytes_read() const;  // for progress against file_size(path())
  const fs::path& path() const;                 // the file really opened

 private:
  struct Stream;
  explicit LineReader(std::unique_ptr<Stream> stream);
  std::unique_ptr<Stream> stream_;
};

// `path`, or path + .xz/.gz/.zst when only that exists; an error naming all candidates otherwise.
Result<fs::path> find_possibly_compressed(const fs::path& path);

enum class FileReaders {
  by_umask,  // as the user has set it for new files
  owner,     // nobody else, whatever the mask
};

// Writes to a temporary sibling; commit() flushes, fsyncs and renames. Destruction without commit() removes
// it.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const fs::path& path, FileReaders readers = FileReaders::by_umask);
  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) noexcept;
  ~AtomicFile();

  Status write(std::string_view bytes);
  Status write(std::span<const std::byte> bytes);
  // Replaces bytes written before: for a header that is only known at the end.
  Status overwrite(std::uint64_t offset, std::span<const std::byte> bytes);
  // Room on the disk for so many bytes in all: writing them cannot fail for want of it any more, nor can
  // commit() if `path` exists already.
  Status reserve(std::uint64_t bytes);
  std::uint64_t size() const;  // bytes written so far
  Status commit();

 private:
  struct State;
  explicit AtomicFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

Status write_file_atomically(const fs::path& path, std::string_view bytes,
                             FileReaders readers = FileReaders::by_umask);

// Read-only memory map of a regular file; unmaps on destruction. Shortening the file meanwhile ends the
// process (SIGBUS): replace a file by an AtomicFile instead, the map keeps the old one.
class MappedFile {
 public:
  static Result<MappedFile> open(const fs::path& path);
  MappedFile(MappedFile&&) noexcept;
  MappedFile& operator=(MappedFile&&) noexcept;
  ~MappedFile();
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

// A new directory that appears at `path`, with the folders above it that are missing, only on commit(), so
// that a failed import leaves nothing behind; a temporary sibling until then. Refuses an existing non-empty
// `path` unless `replace`; with `replace` the old content stays until commit.
class AtomicDirectory {
 public:
  static Result<AtomicDirectory> create(const fs::path& path, bool replace = false);
  AtomicDirectory(AtomicDirectory&&) noexcept;
  AtomicDirectory& operator=(AtomicDirectory&&) noexcept;
  ~AtomicDirectory();
  const fs::path& path() const { return temporary_; }  // write here
  Status commit();

 private:
  AtomicDirectory(fs::path target, fs::path temporary, bool replace);
  void discard();
  fs::path target_, temporary_;  // temporary_ is empty after commit() and after a move
  bool replace_ = false;
};

}  // namespace sotto
