#pragma once
// Append-only files: framed, chained, with one owner, and an interrupted append told from damage.
//
//   file    header, frame, frame, ...
//   header  magic (8 bytes), version (4), length of the opening (4), opening, xxh3 of those (8)
//   frame   body length (4), xxh3 of the length and the link before (8), body, link
//   link    hash of the link before, length, check and body; before the first frame: of the header
//
// All little-endian. The length has its own check so that a flipped bit in it cannot pass for an interrupted
// append, and the link comes last so that it is there only if all of the frame is. An append that was
// interrupted leaves a prefix of a frame, or, after a power failure, zeros where the end should be: nothing
// of it was acknowledged, and it may be cut off. Everything else is damage.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"

namespace sotto {

struct LogFormat {
  enum class Link : std::uint8_t {
    xxh3,     // 8 bytes: finds accidents
    blake2b,  // 32 bytes: a noted link holds everything before it; needs libsodium
  };
  std::string_view what;   // "ledger", for messages
  std::string_view magic;  // 8 bytes
  std::uint32_t version = 1;
  std::size_t opening_bytes = 0;  // what the file says about itself, the same length in each
  Link link = Link::xxh3;
  std::size_t most_body_bytes = 0;
  std::uint64_t most_file_bytes = 0;
  // Of files that are appended to without fsync: after a power failure the last frame may hold anything.
  bool last_frame_may_be_garbled = false;
  std::string_view advice;  // what to do about damage

  constexpr std::size_t header_bytes() const { return magic.size() + 4 + 4 + opening_bytes + 8; }
};

// Makes the bytes of a log, frame after frame.
class LogEncoder {
 public:
  // Appends the header to `out`.
  static Result<LogEncoder> begin(const LogFormat& format, std::string_view opening, std::string& out);
  // Goes on behind a frame that ended with `link`.
  LogEncoder(const LogFormat& format, std::string link) : format_(&format), link_(std::move(link)) {}
  Status add(std::string_view body, std::string& out);
  const std::string& link() const { return link_; }

 private:
  const LogFormat* format_;
  std::string link_;
};

// Reads them one by one; views live as long as the bytes.
class LogReader {
 public:
  static Result<LogReader> open(const LogFormat& format, std::string_view file);

  std::string_view opening() const { return opening_; }
  // False at the end, be it clean or torn.
  Result<bool> next(std::string_view& body);
  const std::string& link() const { return link_; }                // of the frame last returned
  std::uint64_t complete_bytes() const { return at_; }             // up to its end
  std::uint64_t torn_bytes() const { return file_.size() - at_; }  // at the end

 private:
  LogReader(const LogFormat& format, std::string_view file, std::string_view opening, std::string link)
      : format_(&format),
        file_(file),
        opening_(opening),
        link_(std::move(link)),
        at_(format.header_bytes()) {}
  tl::unexpected<Error> damaged() const;
  const LogFormat* format_;
  std::string_view file_, opening_;
  std::string link_;
  std::uint64_t at_;
  std::uint64_t records_ = 0;
};

// When an append returns.
enum class Durability {
  process_end,  // written to the system: outlives the process (kill -9), not a power failure
  power_loss,   // on the disk: outlives both; one fdatasync per append
};

// A log that is being written. Owns the descriptor and with it an advisory lock (flock): a second owner, in
// this process or another, is refused. Movable. Not thread-safe.
class AppendLog {
 public:
  // A new file, readable by its owner only, that appears complete or not at all. Refuses to replace anything.
  static Result<AppendLog> create(const std::filesystem::path& path, const LogFormat& format,
                                  std::string_view opening, std::span<const std::string> bodies,
                                  Durability durability);
  // Hands every record and its link to `visit`, oldest first. An interrupted append behind them stays where
  // it is until settle().
  using Visit = std::function<Status(std::string_view body, std::string_view link)>;
  static Result<AppendLog> open(const std::filesystem::path& path, const LogFormat& format,
                                Durability durability, const Visit& visit);

  // Cuts off what an interrupted append left, and makes sure that the rest is on the disk.
  Status settle();
  // All bodies or none. Settles first where that is needed. After an error nothing of it is part of the log,
  // except when the disk could not even say that (is_broken()): then this object refuses all further work,
  // and opening the file again finds out.
  Status append(std::span<const std::string> bodies);
  bool is_broken() const { return !health_; }
  // Does the disk have room for so much more? Leaves the file as it was.
  Status probe(std::uint64_t bytes);

  std::string_view opening() const { return opening_; }
  const std::string& link() const { return encoder_.link(); }
  std::uint64_t bytes() const { return end_; }

 private:
  AppendLog(const LogFormat& format, std::filesystem::path path, Descriptor file, std::string opening,
            LogEncoder encoder, std::uint64_t end, Durability durability)
      : format_(&format),
        path_(std::move(path)),
        file_(std::move(file)),
        opening_(std::move(opening)),
        encoder_(std::move(encoder)),
        end_(end),
        durability_(durability) {}
  Status check_untouched() const;
  Status broken(Error cause);
  Status sync();

  const LogFormat* format_;
  std::filesystem::path path_;
  Descriptor file_;
  std::string opening_;
  LogEncoder encoder_;
  std::uint64_t end_;
  Durability durability_;
  bool settled_ = true;
  Status health_;
};

// The whole file as it is now, without a lock and without changing it: a log that is being written can be
// looked at.
Result<std::string> read_log_file(const std::filesystem::path& path, const LogFormat& format);

}  // namespace sotto
