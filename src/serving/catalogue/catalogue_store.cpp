#include "serving/catalogue/catalogue_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <charconv>
#include <optional>
#include <set>

#include "base/system_error.h"
#include "serving/catalogue/log_format.h"

namespace sotto::serving {

namespace {

constexpr std::size_t write_buffer = std::size_t{1} << 20;

fs::path log_path(const fs::path& folder, std::uint64_t generation) {
  return folder / fmt::format("catalogue-{}.log", generation);
}
fs::path snapshot_path(const fs::path& folder, std::uint64_t generation) {
  return folder / fmt::format("catalogue-{}.snapshot", generation);
}

// The number in "catalogue-N.extension".
std::optional<std::uint64_t> generation_in(const std::string& name, std::string_view extension) {
  constexpr std::string_view prefix = "catalogue-";
  if (!name.starts_with(prefix) || !name.ends_with(extension)) return std::nullopt;
  if (name.size() <= prefix.size() + extension.size()) return std::nullopt;
  const char* const first = name.data() + prefix.size();
  const char* const last = name.data() + name.size() - extension.size();
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(first, last, number);
  if (problem != std::errc() || end != last) return std::nullopt;
  return number;
}

struct Generations {
  std::set<std::uint64_t> snapshots, logs;
};

Result<Generations> list_generations(const fs::path& folder) {
  Generations found;
  std::error_code problem;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const std::string name = entry->path().filename().string();
    if (const auto log = generation_in(name, ".log")) found.logs.insert(*log);
    if (const auto snapshot = generation_in(name, ".snapshot")) found.snapshots.insert(*snapshot);
  }
  if (problem) return failed("cannot read the folder {}: {}", folder.string(), problem.message());
  return found;
}

// Returns how many bytes are good. Only the log that was being written may end in the middle of a record.
Result<std::uint64_t> replay_file(const fs::path& path, std::uint64_t generation, bool may_be_torn,
                                  const CatalogueStore::Replay& replay) {
  SOTTO_TRY(const auto file, MappedFile::open(path));
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  const auto replay_all = [&]() -> Result<std::uint64_t> {
    SOTTO_TRY(auto reader, log_format::Reader::open(bytes));
    if (reader.generation() != generation) {
      return bad_input("it belongs to generation {}: it was renamed", reader.generation());
    }
    std::string_view body;
    while (true) {
      SOTTO_TRY(const bool more, reader.next(body));
      if (!more) break;
      SOTTO_TRY(auto record, decode_record(body));
      SOTTO_CHECK(replay(std::move(record)));
    }
    if (reader.is_torn() && !may_be_torn) return bad_input("it ends in the middle of a record");
    return reader.complete_bytes();
  };
  auto complete = replay_all();
  if (!complete) return tl::unexpected(std::move(complete).error().in(path.string()));
  return complete;
}

void remove_before(const fs::path& folder, std::uint64_t generation) {
  const auto found = list_generations(folder);
  if (!found) return;  // they are removed when the catalogue is opened next
  std::error_code ignored;
  for (const std::uint64_t old : found->snapshots) {
    if (old < generation) fs::remove(snapshot_path(folder, old), ignored);
  }
  for (const std::uint64_t old : found->logs) {
    if (old < generation) fs::remove(log_path(folder, old), ignored);
  }
}

}  // namespace

CatalogueStore::Lock::~Lock() { ::close(descriptor); }

Result<std::unique_ptr<CatalogueStore::Lock>> CatalogueStore::lock(const fs::path& folder) {
  const fs::path path = folder / "lock";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return system_failure("open", path);
  auto lock = std::make_unique<Lock>(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_failure("lock", path);
    return bad_input("the catalogue {} is in use: stop the server that has it open", folder.string());
  }
  return lock;
}

Result<CatalogueStore> CatalogueStore::open(const fs::path& folder, Durability durability,
                                            const Replay& replay) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) return system_failure("create the folder", folder, problem.value());
  SOTTO_TRY(auto owned, lock(folder));
  SOTTO_TRY(const Generations found, list_generations(folder));
  if (found.logs.empty() && found.snapshots.empty()) {
    SOTTO_TRY(auto log, ItemLog::create(log_path(folder, 1), 1, durability));
    return CatalogueStore(folder, std::move(owned), std::move(log), durability);
  }
  const std::uint64_t first = found.snapshots.empty() ? 1 : *found.snapshots.rbegin();
  const std::uint64_t last = std::max(first, found.logs.empty() ? first : *found.logs.rbegin());
  if (!found.snapshots.empty()) {
    SOTTO_CHECK(replay_file(snapshot_path(folder, first), first, false, replay));
  }
  for (std::uint64_t generation = first; generation < last; ++generation) {
    SOTTO_CHECK(replay_file(log_path(folder, generation), generation, false, replay));
  }
  remove_before(folder, first);
  const fs::path newest = log_path(folder, last);
  if (fs::file_size(newest, problem) < log_format::header_bytes) {
    // Killed while it was being created: nothing was ever acknowledged in it.
    fs::remove(newest, problem);
    SOTTO_TRY(auto log, ItemLog::create(newest, last, durability));
    return CatalogueStore(folder, std::move(owned), std::move(log), durability);
  }
  SOTTO_TRY(const std::uint64_t complete, replay_file(newest, last, true, replay));
  SOTTO_TRY(auto log, ItemLog::open(newest, last, complete, durability));
  return CatalogueStore(folder, std::move(owned), std::move(log), durability);
}

Result<std::uint64_t> CatalogueStore::begin_generation() {
  const std::uint64_t generation = log_.generation() + 1;
  SOTTO_TRY(auto log, ItemLog::create(log_path(folder_, generation), generation, durability_));
  log_ = std::move(log);
  return generation;
}

Status CatalogueStore::write_snapshot(std::uint64_t generation,
                                      const std::function<const CatalogueItem*()>& next) const {
  SOTTO_TRY(auto file, AtomicFile::create(snapshot_path(folder_, generation)));
  std::string buffer = log_format::encode_header(generation);
  while (const CatalogueItem* item = next()) {
    log_format::append_record(buffer, encode_put(*item), generation, file.size() + buffer.size());
    if (buffer.size() < write_buffer) continue;
    SOTTO_CHECK(file.write(buffer));
    buffer.clear();
  }
  SOTTO_CHECK(file.write(buffer));
  SOTTO_CHECK(file.commit());
  remove_before(folder_, generation);
  return {};
}

}  // namespace sotto::serving
