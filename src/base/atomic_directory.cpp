#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/files.h"
#include "base/system_error.h"
#include "base/temporary_sibling.h"

namespace sotto {

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
        "the folder {} exists and is not empty; remove it, choose another name, or ask to replace it",
        path.string());
  }
  return {};
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
  // "runs/a/" means the folder a; a link to a folder is replaced where it points.
  std::error_code error;
  fs::path target = fs::weakly_canonical(path.has_filename() ? path : path.parent_path(), error);
  if (error) return system_failure("create", path, error.value());
  if (!target.has_filename())
    return bad_input("'{}' does not name a folder that can be created", path.string());
  SOTTO_CHECK(check_target(target, replace));
  fs::path temporary;
  do {
    temporary = temporary_sibling(target);
    // False without an error: a folder of that name exists already.
  } while (!fs::create_directory(temporary, error) && !error);
  if (error) return system_failure("create", path, error.value());
  return AtomicDirectory(std::move(target), std::move(temporary), replace);
}

Status AtomicDirectory::commit() {
  if (temporary_.empty()) return failed("the folder {} is already committed", target_.string());
  SOTTO_CHECK(check_target(target_, replace_));
  sync_parent(temporary_ / "entry");

  // rename(2) replaces an empty folder by itself; a full one steps aside first and comes back on failure.
  const fs::path old = temporary_sibling(target_);
  std::error_code ignored;
  const bool has_old = replace_ && fs::exists(target_, ignored);
  if (has_old && std::rename(target_.c_str(), old.c_str()) != 0) return system_failure("replace", target_);
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    if (has_old && std::rename(old.c_str(), target_.c_str()) != 0) {
      return failed("cannot replace {}; its old content is kept in {}", target_.string(), old.string());
    }
    return system_failure("create", target_, error);
  }
  temporary_.clear();
  sync_parent(target_);
  if (has_old) fs::remove_all(old, ignored);
  return {};
}

}  // namespace sotto
