#include "serving/catalogue/item_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "base/system_error.h"
#include "base/temporary_sibling.h"
#include "serving/catalogue/log_format.h"

namespace sotto::serving {

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

}  // namespace

Result<ItemLog> ItemLog::create(const fs::path& path, std::uint64_t generation, Durability durability) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return system_failure("create", path);
  ItemLog log(path, descriptor, generation, 0, durability);
  SOTTO_CHECK(log.write_at_end(log_format::encode_header(generation)));
  if (durability == Durability::power_loss) sync_parent(path);
  return log;
}

Result<ItemLog> ItemLog::open(const fs::path& path, std::uint64_t generation, std::uint64_t complete_bytes,
                              Durability durability) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return system_failure("open", path);
  ItemLog log(path, descriptor, generation, complete_bytes, durability);
  // What is kept may only have reached the memory of the machine when the last owner was killed.
  if (::ftruncate(descriptor, static_cast<off_t>(complete_bytes)) != 0 ||
      (durability == Durability::power_loss && ::fsync(descriptor) != 0)) {
    return system_failure("recover", path);
  }
  return log;
}

ItemLog::ItemLog(ItemLog&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      generation_(other.generation_),
      end_(other.end_),
      durability_(other.durability_),
      health_(std::move(other.health_)) {}

ItemLog& ItemLog::operator=(ItemLog&& other) noexcept {
  if (this != &other) {
    close();
    path_ = std::move(other.path_);
    descriptor_ = std::exchange(other.descriptor_, -1);
    generation_ = other.generation_;
    end_ = other.end_;
    durability_ = other.durability_;
    health_ = std::move(other.health_);
  }
  return *this;
}

ItemLog::~ItemLog() { close(); }

void ItemLog::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

Status ItemLog::write_at_end(std::string_view bytes) {
  if (auto written = write_all(descriptor_, bytes, end_, path_); !written) {
    // A full disk takes a part: give it back, so that the next append starts at a clean end.
    if (::ftruncate(descriptor_, static_cast<off_t>(end_)) != 0) health_ = written;
    return written;
  }
  if (durability_ == Durability::power_loss && ::fdatasync(descriptor_) != 0) {
    // Nobody knows what the disk holds now, and asking again would lie.
    health_ = system_failure("write", path_);
    return health_;
  }
  end_ += bytes.size();
  return {};
}

Status ItemLog::append(std::span<const std::string> bodies) {
  SOTTO_CHECK(health_);
  std::string records;
  for (const std::string& body : bodies) {
    log_format::append_record(records, body, generation_, end_ + records.size());
  }
  return write_at_end(records);
}

}  // namespace sotto::serving
