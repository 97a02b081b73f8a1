#include "base/append_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>

#include "base/byte_codec.h"
#include "base/chain_hash.h"
#include "base/files.h"
#include "base/system_error.h"
#include "base/temporary_sibling.h"

namespace sotto {

namespace {

constexpr std::size_t frame_head_bytes = 12;

std::uint64_t check_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

constexpr std::size_t link_bytes(LogFormat::Link link) {
  return link == LogFormat::Link::blake2b ? std::tuple_size_v<ChainHash> : sizeof(std::uint64_t);
}

Result<std::string> link_over(LogFormat::Link link, std::string_view before, std::string_view head,
                              std::string_view body) {
  if (link == LogFormat::Link::blake2b) {
    SOTTO_TRY(const ChainHash hash, chain_hash({before, head, body}));
    return std::string(as_text(hash));
  }
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (const std::string_view part : {before, head, body}) {
    XXH3_64bits_update(&state, part.data(), part.size());
  }
  ByteWriter out;
  out.number(static_cast<std::uint64_t>(XXH3_64bits_digest(&state)));
  return std::move(out).take();
}

std::string frame_head(std::uint32_t length, std::string_view before) {
  ByteWriter checked;
  checked.number(length);
  checked.raw(before);
  ByteWriter head;
  head.number(length);
  head.number(check_of(checked.bytes()));
  return std::move(head).take();
}

bool all_zero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
}

// Under a temporary name first; link() gives it the real one only if that is free.
Status write_new_file(const Descriptor& file, const fs::path& path, const fs::path& temporary,
                      std::string_view bytes) {
  SOTTO_CHECK(file.write(bytes, 0, path));
  // Whatever the durability of appends: a file without its header is no log at all.
  if (::fsync(file.number()) != 0) return system_failure("write", path);
  if (::link(temporary.c_str(), path.c_str()) == 0) return {};
  if (errno != EEXIST) return system_failure("create", path);
  return bad_input("{} exists already: open it, or choose another name", path.string());
}

Status lock(const Descriptor& file, const LogFormat& format, const fs::path& path) {
  SOTTO_TRY(const bool alone, file.lock(path));
  if (alone) return {};
  return bad_input("the {} {} is in use: close the program that has it open", format.what, path.string());
}

tl::unexpected<Error> too_large(const LogFormat& format) {
  return bad_input("it is larger than a {} can be ({} bytes)", format.what, format.most_file_bytes);
}

Result<std::string> read_all(const Descriptor& file, const LogFormat& format, const fs::path& path) {
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) return system_failure("read", path);
  if (!S_ISREG(status.st_mode)) return bad_input("it is not a file");
  if (static_cast<std::uint64_t>(status.st_size) > format.most_file_bytes) return too_large(format);
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < content.size()) {
    const ssize_t got =
        ::pread(file.number(), content.data() + have, content.size() - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure("read", path);
    if (got == 0) break;  // an interrupted append was cut off meanwhile
    have += static_cast<std::size_t>(got);
  }
  content.resize(have);
  return content;
}

}  // namespace

Result<LogEncoder> LogEncoder::begin(const LogFormat& format, std::string_view opening, std::string& out) {
  if (opening.size() != format.opening_bytes) {
    return failed("a {} opens with {} bytes, not {}", format.what, format.opening_bytes, opening.size());
  }
  ByteWriter header;
  header.raw(format.magic);
  header.number(format.version);
  header.number(static_cast<std::uint32_t>(opening.size()));
  header.raw(opening);
  header.number(check_of(header.bytes()));
  SOTTO_TRY(std::string link, link_over(format.link, header.bytes(), {}, {}));
  out += header.bytes();
  return LogEncoder(format, std::move(link));
}

Status LogEncoder::add(std::string_view body, std::string& out) {
  if (body.empty() || body.size() > format_->most_body_bytes) {
    return failed("a record of {} bytes cannot be written to a {}", body.size(), format_->what);
  }
  const std::string head = frame_head(static_cast<std::uint32_t>(body.size()), link_);
  SOTTO_TRY(link_, link_over(format_->link, link_, head, body));
  out += head;
  out += body;
  out += link_;
  return {};
}

Result<LogReader> LogReader::open(const LogFormat& format, std::string_view file) {
  if (!file.starts_with(format.magic)) return bad_input("this is not a {} file", format.what);
  const std::size_t header_bytes = format.header_bytes();
  if (file.size() < header_bytes) {
    return bad_input("the {} is cut off inside its header: {}", format.what, format.advice);
  }
  ByteReader in(file.substr(format.magic.size(), header_bytes - format.magic.size()));
  const auto version = in.number<std::uint32_t>();
  const auto length = in.number<std::uint32_t>();
  const std::string_view opening = in.raw(format.opening_bytes);
  const bool intact = in.number<std::uint64_t>() == check_of(file.substr(0, header_bytes - 8));
  // Another version may have another header, so its check lies elsewhere.
  if (version != format.version && (intact || length != format.opening_bytes)) {
    return bad_input("the {} has format {}, this program knows format {}", format.what, version,
                     format.version);
  }
  if (!intact || length != format.opening_bytes) {
    return bad_input("the header of the {} is damaged: {}", format.what, format.advice);
  }
  SOTTO_TRY(std::string link, link_over(format.link, file.substr(0, header_bytes), {}, {}));
  return LogReader(format, file, opening, std::move(link));
}

tl::unexpected<Error> LogReader::damaged() const {
  return bad_input(
      "the {} is damaged at record {}: a byte was changed, or a record was removed, in what was already "
      "written: {}",
      format_->what, records_ + 1, format_->advice);
}

Result<bool> LogReader::next(std::string_view& body) {
  const std::string_view rest = file_.substr(at_);
  if (rest.size() < frame_head_bytes) return false;
  const std::string_view head = rest.substr(0, frame_head_bytes);
  const auto length = ByteReader(head).number<std::uint32_t>();
  if (head != frame_head(length, link_)) {
    if (all_zero(rest.substr(frame_head_bytes))) return false;
    return damaged();
  }
  if (length == 0 || length > format_->most_body_bytes) return damaged();
  const std::size_t behind_body = frame_head_bytes + length;
  const std::size_t whole = behind_body + link_bytes(format_->link);
  if (rest.size() < whole) return false;
  const std::string_view read = rest.substr(frame_head_bytes, length);
  const std::string_view stored = rest.substr(behind_body, whole - behind_body);
  SOTTO_TRY(std::string link, link_over(format_->link, link_, head, read));
  if (stored != link) {
    const bool last = all_zero(rest.substr(whole));
    if (last && (format_->last_frame_may_be_garbled || (rest.size() == whole && all_zero(stored))))
      return false;
    return damaged();
  }
  body = read;
  link_ = std::move(link);
  at_ += whole;
  ++records_;
  return true;
}

Result<AppendLog> AppendLog::create(const fs::path& path, const LogFormat& format, std::string_view opening,
                                    std::span<const std::string> bodies, Durability durability) {
  std::string bytes;
  SOTTO_TRY(LogEncoder encoder, LogEncoder::begin(format, opening, bytes));
  for (const std::string& body : bodies) SOTTO_CHECK(encoder.add(body, bytes));
  fs::path temporary;
  SOTTO_TRY(Descriptor file, Descriptor::open_sibling(path, temporary, 0600));
  Status written = lock(file, format, path);
  if (written) written = write_new_file(file, path, temporary, bytes);
  ::unlink(temporary.c_str());
  if (!written) return tl::unexpected(std::move(written).error());
  sync_parent(path);
  return AppendLog(format, path, std::move(file), std::string(opening), std::move(encoder), bytes.size(),
                   durability);
}

Result<AppendLog> AppendLog::open(const fs::path& path, const LogFormat& format, Durability durability,
                                  const Visit& visit) {
  SOTTO_TRY(Descriptor file, Descriptor::open(path, O_RDWR, fmt::format("open the {}", format.what)));
  SOTTO_CHECK(lock(file, format, path));
  SOTTO_TRY(const MappedFile mapped, MappedFile::open(path));
  const auto read = [&]() -> Result<AppendLog> {
    const std::span<const std::byte> bytes = mapped.bytes();
    if (bytes.size() > format.most_file_bytes) return too_large(format);
    SOTTO_TRY(LogReader reader,
              LogReader::open(format, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    std::string_view body;
    while (true) {
      SOTTO_TRY(const bool more, reader.next(body));
      if (!more) break;
      SOTTO_CHECK(visit(body, reader.link()));
    }
    AppendLog log(format, path, std::move(file), std::string(reader.opening()),
                  LogEncoder(format, reader.link()), reader.complete_bytes(), durability);
    log.settled_ = false;
    return log;
  };
  auto log = read();
  if (!log) return tl::unexpected(std::move(log).error().in(path.string()));
  return log;
}

Status AppendLog::broken(Error cause) {
  cause.message += fmt::format("; close the {} and open it again", format_->what);
  health_ = tl::unexpected(std::move(cause));
  return health_;
}

Status AppendLog::sync() {
  if (durability_ == Durability::process_end || ::fdatasync(file_.number()) == 0) return {};
  return system_failure("write", path_);
}

Status AppendLog::settle() {
  SOTTO_CHECK(health_);
  if (::ftruncate(file_.number(), static_cast<off_t>(end_)) != 0) return system_failure("recover", path_);
  // A complete record may only have reached the memory of the machine when the last owner was killed.
  if (auto synced = sync(); !synced) return broken(std::move(synced).error());
  settled_ = true;
  return {};
}

// The lock is advisory: a file manager does not ask for it.
Status AppendLog::check_untouched() const {
  struct stat status {};
  if (::fstat(file_.number(), &status) != 0) return system_failure("read", path_);
  if (status.st_nlink == 0 || static_cast<std::uint64_t>(status.st_size) != end_) {
    return failed("the {} {} was {} by another program while it was open", format_->what, path_.string(),
                  status.st_nlink == 0 ? "deleted" : "changed");
  }
  return {};
}

Status AppendLog::append(std::span<const std::string> bodies) {
  SOTTO_CHECK(health_);
  if (!settled_) SOTTO_CHECK(settle());
  if (auto untouched = check_untouched(); !untouched) return broken(std::move(untouched).error());
  LogEncoder encoder = encoder_;
  std::string frames;
  for (const std::string& body : bodies) SOTTO_CHECK(encoder.add(body, frames));
  if (end_ + frames.size() > format_->most_file_bytes) {
    return bad_input("the {} {} is full: it has at most {} bytes", format_->what, path_.string(),
                     format_->most_file_bytes);
  }
  if (auto written = file_.write(frames, end_, path_); !written) {
    // A full disk takes a part of a record: give it back, so that the next append starts at a clean end.
    settled_ = ::ftruncate(file_.number(), static_cast<off_t>(end_)) == 0;
    return written;
  }
  // After a failed fdatasync nobody knows what the disk holds, and asking again would lie.
  if (auto synced = sync(); !synced) return broken(std::move(synced).error());
  end_ += frames.size();
  encoder_ = std::move(encoder);
  return {};
}

Status AppendLog::probe(std::uint64_t bytes) {
  SOTTO_CHECK(health_);
  if (!settled_) SOTTO_CHECK(settle());
  Status room = file_.reserve(end_ + bytes, path_);
  settled_ = ::ftruncate(file_.number(), static_cast<off_t>(end_)) == 0;
  return room;
}

Result<std::string> read_log_file(const fs::path& path, const LogFormat& format) {
  SOTTO_TRY(const Descriptor file, Descriptor::open(path, O_RDONLY, fmt::format("open the {}", format.what)));
  auto content = read_all(file, format, path);
  if (!content) return tl::unexpected(std::move(content).error().in(path.string()));
  return content;
}

}  // namespace sotto
