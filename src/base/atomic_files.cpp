#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/descriptor.h"
#include "base/files.h"
#include "base/system_error.h"
#include "base/temporary_sibling.h"

namespace sotto {

namespace {
constexpr std::size_t write_buffer_bytes = std::size_t{256} << 10;
}

// Bytes gather in `pending`; large writes pass it by. After a failed write the file on disk is incomplete, so
// every later call, commit() too, fails with the same error.
struct AtomicFile::State {
  fs::path target, temporary;
  Descriptor descriptor;
  std::uint64_t size = 0;      // with what is pending
  std::uint64_t reserved = 0;  // how long the file was made beforehand
  std::string pending;
  Status health;

  ~State() {
    if (descriptor.is_open()) ::unlink(temporary.c_str());
  }

  Status write_out(std::string_view bytes, std::uint64_t offset) {
    return health = descriptor.write(bytes, offset, target);
  }

  Status flush() {
    SOTTO_CHECK(write_out(pending, size - pending.size()));
    pending.clear();
    return {};
  }

  Status write(std::string_view bytes) {
    SOTTO_CHECK(health);
    if (pending.size() + bytes.size() > write_buffer_bytes) SOTTO_CHECK(flush());
    size += bytes.size();
    if (bytes.size() > write_buffer_bytes) return write_out(bytes, size - bytes.size());
    pending += bytes;
    return {};
  }

  Status overwrite(std::uint64_t offset, std::string_view bytes) {
    SOTTO_CHECK(health);
    if (offset > size || bytes.size() > size - offset) {
      return failed("cannot overwrite {} bytes at {} of {}: only {} are written", bytes.size(), offset,
                    target.string(), size);
    }
    SOTTO_CHECK(flush());
    return write_out(bytes, offset);
  }

  Status reserve(std::uint64_t bytes) {
    SOTTO_CHECK(health);
    SOTTO_CHECK(health = descriptor.reserve(bytes, target));
    reserved = std::max(reserved, bytes);
    return {};
  }

  Status commit() {
    SOTTO_CHECK(health);
    SOTTO_CHECK(flush());
    if ((reserved > size && ::ftruncate(descriptor.number(), static_cast<off_t>(size)) != 0) ||
        ::fsync(descriptor.number()) != 0 || !descriptor.close() ||
        ::rename(temporary.c_str(), target.c_str()) != 0) {
      health = system_failure("write", target);
      descriptor.close();
      ::unlink(temporary.c_str());
      return health;
    }
    sync_parent(target);
    health = failed("{} is already written", target.string());
    return {};
  }
};

AtomicFile::AtomicFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;
AtomicFile& AtomicFile::operator=(AtomicFile&&) noexcept = default;
AtomicFile::~AtomicFile() = default;

Result<AtomicFile> AtomicFile::create(const fs::path& path, FileReaders readers) {
  std::error_code ignored;
  if (!path.has_filename() || fs::is_directory(path, ignored)) {
    return bad_input("cannot write {}: it is a folder, a file name is needed", path.string());
  }
  auto state = std::make_unique<State>();
  state->target = path;
  const unsigned mode = readers == FileReaders::owner ? 0600 : 0666;
  SOTTO_TRY(state->descriptor, Descriptor::open_sibling(path, state->temporary, mode));
  return AtomicFile(std::move(state));
}

namespace {
std::string_view as_characters(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
}  // namespace

Status AtomicFile::write(std::string_view bytes) { return state_->write(bytes); }
Status AtomicFile::write(std::span<const std::byte> bytes) { return state_->write(as_characters(bytes)); }
Status AtomicFile::overwrite(std::uint64_t offset, std::span<const std::byte> bytes) {
  return state_->overwrite(offset, as_characters(bytes));
}
Status AtomicFile::reserve(std::uint64_t bytes) { return state_->reserve(bytes); }
std::uint64_t AtomicFile::size() const { return state_->size; }
Status AtomicFile::commit() { return state_->commit(); }

Status write_file_atomically(const fs::path& path, std::string_view bytes, FileReaders readers) {
  SOTTO_TRY(AtomicFile file, AtomicFile::create(path, readers));
  SOTTO_CHECK(file.write(bytes));
  return file.commit();
}

namespace {

// An existing target that may not be replaced must be an empty folder.
Status check_target(const fs::path& path, bool replace) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) return {};
  if (!fs::is_directory(status)) {
    return bad_input(
        "cannot create the folder {}: a file of that name exists; remove it or choose another name",
        path.string());
  }
  const bool empty = fs::is_empty(path, error);
  if (error) return system_failure("read", path, error.value());
  if (!empty && !replace) {
    return bad_input(
        "the folder {} exists and is not empty; remove it, choose another name, or say --replace",
        path.string());
  }
  return {};
}

// What a rename can put at `path`: the folder itself, or the topmost of those that are missing above it.
fs::path topmost_missing(const fs::path& path) {
  std::error_code unknown;
  fs::path topmost = path;
  while (topmost.has_relative_path() && !fs::exists(topmost.parent_path(), unknown) && !unknown)
    topmost = topmost.parent_path();
  return topmost;
}

}  // namespace

AtomicDirectory::AtomicDirectory(fs::path target, fs::path temporary, bool replace)
    : target_(std::move(target)), temporary_(std::move(temporary)), replace_(replace) {}

AtomicDirectory::AtomicDirectory(AtomicDirectory&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      replace_(other.replace_) {}

AtomicDirectory& AtomicDirectory::operator=(AtomicDirectory&& other) noexcept {
  if (this != &other) {
    discard();
    target_ = std::move(other.target_);
    temporary_ = std::exchange(other.temporary_, {});
    replace_ = other.replace_;
  }
  return *this;
}

AtomicDirectory::~AtomicDirectory() { discard(); }

void AtomicDirectory::discard() {
  if (temporary_.empty()) return;
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);
  temporary_.clear();
}

Result<AtomicDirectory> AtomicDirectory::create(const fs::path& path, bool replace) {
  // "runs/a/" means the folder a; a link to a folder is replaced where it points. Absolute first: of a
  // relative path whose first folder is missing weakly_canonical leaves one without a folder above it.
  std::error_code error;
  fs::path target = fs::absolute(path.has_filename() ? path : path.parent_path(), error);
  target = fs::weakly_canonical(target, error);
  if (error) return system_failure("create", path, error.value());
  if (!target.has_filename())
    return bad_input("'{}' does not name a folder that can be created", path.string());
  SOTTO_CHECK(check_target(target, replace));
  fs::path temporary;
  do {
    temporary = temporary_sibling(topmost_missing(target));
    // False without an error: a folder of that name exists already.
  } while (!fs::create_directory(temporary, error) && !error);
  if (error) return system_failure("create", path, error.value());
  return AtomicDirectory(std::move(target), std::move(temporary), replace);
}

Status AtomicDirectory::commit() {
  if (temporary_.empty()) return failed("the folder {} is already committed", target_.string());
  SOTTO_CHECK(check_target(target_, replace_));
  sync_parent(temporary_ / "entry");

  std::error_code error;
  fs::create_directories(target_.parent_path(), error);
  if (error) return system_failure("create", target_.parent_path(), error.value());

  // rename(2) replaces an empty folder by itself; a full one steps aside first and comes back on failure.
  const fs::path old = temporary_sibling(target_);
  std::error_code ignored;
  const bool has_old = replace_ && fs::exists(target_, ignored);
  if (has_old && std::rename(target_.c_str(), old.c_str()) != 0) return system_failure("replace", target_);
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int reason = errno;
    if (has_old && std::rename(old.c_str(), target_.c_str()) != 0) {
      return failed("cannot replace {}; its old content is kept in {}", target_.string(), old.string());
    }
    return system_failure("create", target_, reason);
  }
  temporary_.clear();
  sync_parent(target_);
  if (has_old) fs::remove_all(old, ignored);
  return {};
}

}  // namespace sotto
