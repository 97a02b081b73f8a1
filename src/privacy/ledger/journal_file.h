#pragma once
// A ledger's file: created atomically, held by one owner at a time, appended to durably.
//
// An object owns the descriptor and with it an advisory lock (flock): a second owner, in this process or
// another, is refused. Movable; a moved-from one may only be destroyed or assigned to. Not thread-safe.

#include <filesystem>
#include <string>

#include "privacy/ledger/journal_format.h"

namespace sotto {

class JournalFile {
 public:
  // A new file readable by its owner only, with one record. Refuses to replace anything.
  static Status create(const std::filesystem::path& path, const journal_format::LedgerId& id,
                       std::string_view first_body);

  // Locks, verifies the whole chain, and cuts off an interrupted append. `content` receives the bytes that
  // `journal` points into.
  struct Opened;
  static Result<Opened> open(const std::filesystem::path& path);

  JournalFile(JournalFile&& other) noexcept;
  JournalFile& operator=(JournalFile&& other) noexcept;
  ~JournalFile();

  // Returns when the record is on the disk. After an error it is not part of the ledger, except when the disk
  // itself could not say: then this object refuses all further work, and opening the file again finds out.
  Status append(std::string_view body);
  const ChainHash& head() const { return head_; }

 private:
  JournalFile(std::filesystem::path path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  Status check_untouched() const;
  Status write_at_end(std::string_view bytes);
  Status broken(Error cause);
  void close();

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t end_ = 0;
  ChainHash head_{};
  Status health_;
};

struct JournalFile::Opened {
  JournalFile file;
  std::string content;
  journal_format::Journal journal;
};

// The file as it is now, without a lock and without changing it: a live ledger can be looked at.
Result<std::string> read_journal(const std::filesystem::path& path);

}  // namespace sotto
