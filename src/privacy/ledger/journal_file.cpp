#include "privacy/ledger/journal_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/system_error.h"
#include "base/temporary_sibling.h"

namespace sotto {

namespace fs = std::filesystem;

namespace {

Status write_all(int descriptor, std::string_view bytes, std::uint64_t offset, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return system_failure("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
    offset += static_cast<std::uint64_t>(wrote);
  }
  return {};
}

Result<std::string> read_all(int descriptor, const fs::path& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return system_failure("read", path);
  if (!S_ISREG(status.st_mode)) return bad_input("{} is not a file", path.string());
  if (static_cast<std::uint64_t>(status.st_size) > journal_format::max_file_bytes) {
    return bad_input("{} is larger than a ledger can be ({} bytes)", path.string(),
                     journal_format::max_file_bytes);
  }
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < content.size()) {
    const ssize_t got =
        ::pread(descriptor, content.data() + have, content.size() - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure("read", path);
    if (got == 0) break;  // an interrupted append was cut off meanwhile
    have += static_cast<std::size_t>(got);
  }
  content.resize(have);
  return content;
}

// Writes the file under a temporary name; link() gives it the real one only if that is free.
Status write_new_file(const fs::path& path, const fs::path& temporary, int descriptor,
                      std::string_view bytes) {
  SOTTO_CHECK(write_all(descriptor, bytes, 0, path));
  if (::fsync(descriptor) != 0) return system_failure("write", path);
  if (::link(temporary.c_str(), path.c_str()) == 0) return {};
  if (errno != EEXIST) return system_failure("create", path);
  return bad_input("{} exists already: open it, or choose another name", path.string());
}

}  // namespace

Status JournalFile::create(const fs::path& path, const journal_format::LedgerId& id,
                           std::string_view first_body) {
  const std::string header = journal_format::encode_header(id);
  SOTTO_TRY(const ChainHash start, journal_format::hash_of_header(header));
  SOTTO_TRY(const journal_format::Frame frame, journal_format::encode_frame(first_body, start));
  fs::path temporary;
  int descriptor = -1;
  do {
    temporary = temporary_sibling(path);
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  } while (descriptor < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor < 0) return system_failure("create", path);
  Status written = write_new_file(path, temporary, descriptor, header + frame.bytes);
  ::close(descriptor);
  ::unlink(temporary.c_str());
  if (written) sync_parent(path);
  return written;
}

Result<JournalFile::Opened> JournalFile::open(const fs::path& path) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return system_failure("open the ledger", path);
  Opened opened{JournalFile(path, descriptor), {}, {}};
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_failure("lock", path);
    return bad_input("the ledger {} is in use: close the program that has it open", path.string());
  }
  SOTTO_TRY(opened.content, read_all(descriptor, path));
  auto journal = journal_format::parse(opened.content);
  if (!journal) return tl::unexpected(std::move(journal).error().in(path.string()));
  opened.journal = std::move(*journal);
  JournalFile& file = opened.file;
  file.end_ = opened.journal.complete_bytes;
  file.head_ = opened.journal.hashes.back();
  // A complete record may only have reached the memory of the machine when the last owner was killed, and an
  // anchor must never run ahead of the disk.
  if ((opened.journal.torn_bytes > 0 && ::ftruncate(descriptor, static_cast<off_t>(file.end_)) != 0) ||
      ::fsync(descriptor) != 0) {
    return system_failure("recover", path);
  }
  return opened;
}

JournalFile::JournalFile(JournalFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      end_(other.end_),
      head_(other.head_),
      health_(std::move(other.health_)) {}

JournalFile& JournalFile::operator=(JournalFile&& other) noexcept {
  if (this != &other) {
    close();
    path_ = std::move(other.path_);
    descriptor_ = std::exchange(other.descriptor_, -1);
    end_ = other.end_;
    head_ = other.head_;
    health_ = std::move(other.health_);
  }
  return *this;
}

JournalFile::~JournalFile() { close(); }

void JournalFile::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

Status JournalFile::broken(Error cause) {
  cause.message += "; close the ledger and open it again";
  health_ = tl::unexpected(std::move(cause));
  return health_;
}

// The lock is advisory: a file manager does not ask for it.
Status JournalFile::check_untouched() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return system_failure("read", path_);
  if (status.st_nlink == 0 || static_cast<std::uint64_t>(status.st_size) != end_) {
    return failed("the ledger {} was {} by another program while it was open", path_.string(),
                  status.st_nlink == 0 ? "deleted" : "changed");
  }
  return {};
}

Status JournalFile::write_at_end(std::string_view bytes) {
  Status written = write_all(descriptor_, bytes, end_, path_);
  if (written) return {};
  // A full disk takes a part of a record: give it back, so that the next append starts at a clean end.
  if (::ftruncate(descriptor_, static_cast<off_t>(end_)) != 0) return broken(std::move(written).error());
  return written;
}

Status JournalFile::append(std::string_view body) {
  SOTTO_CHECK(health_);
  if (auto untouched = check_untouched(); !untouched) return broken(std::move(untouched).error());
  SOTTO_TRY(const journal_format::Frame frame, journal_format::encode_frame(body, head_));
  if (end_ + frame.bytes.size() > journal_format::max_file_bytes) {
    return bad_input("the ledger {} is full: begin a new one and take its budget from what is left",
                     path_.string());
  }
  SOTTO_CHECK(write_at_end(frame.bytes));
  // After a failed fsync nobody knows what the disk holds, and asking again would lie.
  if (::fsync(descriptor_) != 0) return broken(system_failure("write", path_).value());
  end_ += frame.bytes.size();
  head_ = frame.hash;
  return {};
}

Result<std::string> read_journal(const fs::path& path) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return system_failure("open the ledger", path);
  auto content = read_all(descriptor, path);
  ::close(descriptor);
  return content;
}

}  // namespace sotto
