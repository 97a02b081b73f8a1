#pragma once
// The public log of a serving operator: every pack and every guide of blind serving is in it before it is
// handed out, so that devices and whoever looks see the same ones. The file is the one that 'sotto log'
// reads.
//
//   GET  /v1/log/head                        rounds::SignedHead
//   GET  /v1/log?from=N                      rounds::LogPage: the entries behind the first N
//   GET  /v1/log/proof?kind=K&hash=H&from=N  rounds::LogProof of an entry, for whoever saw the first N
//   POST /v1/log/cosignature                 rounds::HeadCosignature, of a witness that the operator names
//
// Thread-safe.

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/append_log.h"
#include "base/files.h"
#include "net/router.h"
#include "rounds/public_log.h"

namespace sotto::serving {

class ServedLog {
 public:
  // A file that is missing begins with the first entry. Refuses a log of another owner.
  static Result<std::unique_ptr<ServedLog>> open(fs::path path, rounds::Identity owner,
                                                 std::vector<rounds::IdentityKey> witnesses,
                                                 Durability durability);

  // What is handed out from now on. One that is there already changes nothing.
  Status note_pack(std::string_view bytes, std::int64_t now);
  Status note_guide(std::string_view version, std::int64_t now);
  // Whether the last entry could be stored; what could not is noted again before it is handed out.
  Status health() const;

  rounds::IdentityKey owner() const { return owner_.public_key(); }
  const std::vector<rounds::IdentityKey>& witnesses() const { return witnesses_; }

  void add_routes(net::Router& router);

 private:
  ServedLog(fs::path path, rounds::Identity owner, std::vector<rounds::IdentityKey> witnesses,
            Durability durability)
      : path_(std::move(path)),
        owner_(std::move(owner)),
        witnesses_(std::move(witnesses)),
        durability_(durability),
        log_(owner_.public_key()) {}
  Status note(const rounds::LogLeaf& leaf, std::int64_t now);
  Status append(const std::vector<std::string>& records);
  Status store(const std::vector<std::string>& records);
  net::HttpResponse head(const net::HttpRequest& request) const;
  net::HttpResponse page(const net::HttpRequest& request) const;
  net::HttpResponse proof(const net::HttpRequest& request) const;
  net::HttpResponse cosign(const net::HttpRequest& request);

  const fs::path path_;
  const rounds::Identity owner_;
  const std::vector<rounds::IdentityKey> witnesses_;
  const Durability durability_;
  mutable std::mutex mutex_;
  std::optional<AppendLog> file_;
  rounds::PublicLog log_;
  Status health_;
};

}  // namespace sotto::serving
