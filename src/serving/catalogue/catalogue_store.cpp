#include "serving/catalogue/catalogue_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <set>

#include "base/byte_codec.h"
#include "base/system_error.h"

namespace sotto::serving {

const LogFormat catalogue_format{.what = "catalogue",
                                 .magic = "SOTTOCAT",
                                 .version = 3,
                                 .opening_bytes = 16,
                                 .link = LogFormat::Link::xxh3,
                                 .most_body_bytes = std::size_t{1} << 16,
                                 .most_file_bytes = std::uint64_t{1} << 40,
                                 .last_frame_may_be_garbled = true,
                                 .advice = "restore the file from a backup"};

std::string catalogue_opening(std::uint64_t generation, std::uint64_t number) {
  ByteWriter out;
  out.number(generation);
  out.number(number);
  return std::move(out).take();
}

namespace {

constexpr std::size_t write_buffer = std::size_t{1} << 20;
// What a probe asks for: more than one change usually needs.
constexpr std::uint64_t probe_bytes = std::uint64_t{64} << 10;

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

Result<Descriptor> lock_folder(const fs::path& folder) {
  const fs::path path = folder / "lock";
  SOTTO_TRY(Descriptor lock, Descriptor::open(path, O_RDWR | O_CREAT, "open", 0600));
  SOTTO_TRY(const bool alone, lock.lock(path));
  if (alone) return lock;
  return bad_input("the catalogue {} is in use: stop the server that has it open", folder.string());
}

struct Opening {
  std::uint64_t generation = 0, number = 0;
};

Result<Opening> read_opening(std::string_view bytes, std::uint64_t generation) {
  ByteReader in(bytes);
  const Opening opening{in.number<std::uint64_t>(), in.number<std::uint64_t>()};
  if (opening.generation == generation) return opening;
  return bad_input("it belongs to generation {}: it was renamed", opening.generation);
}

Status replay_record(std::string_view body, const CatalogueStore::Replay& replay) {
  SOTTO_TRY(auto record, decode_record(body));
  return replay(std::move(record));
}

struct MappedLog {
  MappedFile file;
  LogReader reader;
  Opening opening;
};

Result<MappedLog> open_mapped(const fs::path& path, std::uint64_t generation) {
  SOTTO_TRY(MappedFile file, MappedFile::open(path));
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  const auto read = [&]() -> Result<MappedLog> {
    SOTTO_TRY(LogReader reader, LogReader::open(catalogue_format, bytes));
    SOTTO_TRY(const Opening opening, read_opening(reader.opening(), generation));
    return MappedLog{std::move(file), std::move(reader), opening};
  };
  auto log = read();
  if (!log) return tl::unexpected(std::move(log).error().in(path.string()));
  return log;
}

// Every record of a file that is not written any more, up to where `is_end` says. The file must reach it.
Status replay_sealed(const fs::path& path, MappedLog& log, const CatalogueStore::Replay& replay,
                     const std::function<bool(std::uint64_t records)>& is_end) {
  const auto replay_all = [&]() -> Status {
    std::string_view body;
    for (std::uint64_t records = 0; !is_end(records); ++records) {
      SOTTO_TRY(const bool more, log.reader.next(body));
      if (!more) return bad_input("it ends before its last record: {}", catalogue_format.advice);
      SOTTO_CHECK(replay_record(body, replay));
    }
    return {};
  };
  auto replayed = replay_all();
  if (!replayed) return tl::unexpected(std::move(replayed).error().in(path.string()));
  return {};
}

}  // namespace

Result<CatalogueStore> CatalogueStore::open(const fs::path& folder, Durability durability,
                                            const Replay& replay) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) return system_failure("create the folder", folder, problem.value());
  SOTTO_TRY(Descriptor owned, lock_folder(folder));
  CatalogueStore store(folder, std::move(owned), durability);
  store.remove_leftovers();
  SOTTO_CHECK(store.replay_all(replay));
  // A failure is met again, and told, by the first change.
  if (store.log_) static_cast<void>(store.log_->settle());
  return store;
}

Status CatalogueStore::check_unused(const fs::path& folder) {
  if (!fs::exists(folder / "lock")) return {};
  SOTTO_TRY(const Descriptor locked, lock_folder(folder));
  return {};
}

// Files that were never finished: under temporary names, and logs without a whole header. Nothing was ever
// acknowledged in them, and the room they take may be what is missing.
void CatalogueStore::remove_leftovers() const {
  std::error_code ignored;
  std::vector<fs::path> leftovers;
  for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool unfinished = name.starts_with(".catalogue-") && name.find(".sotto-") != std::string::npos;
    if (unfinished ||
        (generation_in(name, ".log") && entry.file_size(ignored) < catalogue_format.header_bytes())) {
      leftovers.push_back(entry.path());
    }
  }
  for (const fs::path& path : leftovers) fs::remove(path, ignored);
}

Status CatalogueStore::replay_all(const Replay& replay) {
  SOTTO_TRY(const Generations found, list_generations(folder_));
  const std::uint64_t first = found.snapshots.empty() ? 1 : *found.snapshots.rbegin();
  if (!found.snapshots.empty()) {
    const fs::path path = snapshot_path(folder_, first);
    SOTTO_TRY(MappedLog snapshot, open_mapped(path, first));
    const std::uint64_t items = snapshot.opening.number;
    SOTTO_CHECK(
        replay_sealed(path, snapshot, replay, [&](std::uint64_t records) { return records == items; }));
    generation_ = first;
  }
  if (found.logs.empty()) return {};
  generation_ = std::max(first, *found.logs.rbegin());
  for (std::uint64_t generation = first; generation < generation_; ++generation) {
    SOTTO_TRY(const MappedLog next, open_mapped(log_path(folder_, generation + 1), generation + 1));
    const std::uint64_t good = next.opening.number;
    if (good == 0) continue;  // there was none to write to
    const fs::path path = log_path(folder_, generation);
    SOTTO_TRY(MappedLog log, open_mapped(path, generation));
    SOTTO_CHECK(
        replay_sealed(path, log, replay, [&](std::uint64_t) { return log.reader.complete_bytes() >= good; }));
    sealed_.emplace(generation, good);
  }
  const fs::path newest = log_path(folder_, generation_);
  SOTTO_TRY(log_, AppendLog::open(
                      newest, catalogue_format, durability_,
                      [&](std::string_view body, std::string_view) { return replay_record(body, replay); }));
  if (auto opening = read_opening(log_->opening(), generation_); !opening) {
    return tl::unexpected(std::move(opening).error().in(newest.string()));
  }
  drop_before(first);
  return {};
}

Status CatalogueStore::append(std::span<const std::string> bodies) {
  if (!can_append()) SOTTO_CHECK(begin_generation());
  return log_->append(bodies);
}

Status CatalogueStore::probe() {
  if (!can_append()) SOTTO_CHECK(begin_generation());
  return log_->probe(probe_bytes);
}

std::uint64_t CatalogueStore::log_bytes() const {
  std::uint64_t bytes = log_ ? log_->bytes() : 0;
  for (const auto& [generation, sealed] : sealed_) bytes += sealed;
  return bytes;
}

Result<std::uint64_t> CatalogueStore::begin_generation() {
  if (can_append() && log_->bytes() == catalogue_format.header_bytes()) return generation_;
  const std::uint64_t good = log_ ? log_->bytes() : 0;
  const std::uint64_t next = generation_ + 1;
  SOTTO_TRY(auto log, AppendLog::create(log_path(folder_, next), catalogue_format,
                                        catalogue_opening(next, good), {}, durability_));
  if (log_) sealed_.emplace(generation_, good);
  log_ = std::move(log);
  generation_ = next;
  return generation_;
}

Status CatalogueStore::write_snapshot(std::uint64_t generation, std::size_t count,
                                      const std::function<const CatalogueItem&()>& next) const {
  SOTTO_TRY(auto file, AtomicFile::create(snapshot_path(folder_, generation), FileReaders::owner));
  std::string buffer;
  SOTTO_TRY(auto encoder, LogEncoder::begin(catalogue_format, catalogue_opening(generation, count), buffer));
  for (std::size_t i = 0; i < count; ++i) {
    SOTTO_CHECK(encoder.add(encode_put(next()), buffer));
    if (buffer.size() < write_buffer) continue;
    SOTTO_CHECK(file.write(buffer));
    buffer.clear();
  }
  SOTTO_CHECK(file.write(buffer));
  return file.commit();
}

void CatalogueStore::drop_before(std::uint64_t generation) {
  sealed_.erase(sealed_.begin(), sealed_.lower_bound(generation));
  const auto found = list_generations(folder_);
  if (!found) return;  // they are removed when the catalogue is opened next
  std::error_code ignored;
  for (const std::uint64_t old : found->snapshots) {
    if (old < generation) fs::remove(snapshot_path(folder_, old), ignored);
  }
  for (const std::uint64_t old : found->logs) {
    if (old < generation) fs::remove(log_path(folder_, old), ignored);
  }
}

}  // namespace sotto::serving
