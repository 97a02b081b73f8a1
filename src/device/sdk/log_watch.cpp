#include "device/sdk/log_watch.h"

#include <algorithm>

#include "base/chain_hash.h"
#include "device/wire/server_calls.h"

namespace sotto::device {

namespace {

constexpr std::size_t most_proved = 8;  // packs and guides that are not asked about again
constexpr std::size_t most_file_bytes = 1 << 16;

template <class Fields, class Head, class Leaves>
void visit_seen(Fields& fields, Head& head, Leaves& leaves) {
  fields.long_blob(head);
  fields.list(leaves, most_proved, [](auto& inner, auto& leaf) {
    inner.choice(leaf.kind, rounds::LeafKind::campaign, rounds::last_leaf_kind);
    inner.bytes(leaf.hash);
  });
}

}  // namespace

Result<LogWatch> LogWatch::open(fs::path file, const LogSettings& settings) {
  LogWatch watch(std::move(file));
  if (settings.key.empty()) {
    if (settings.witnesses_needed > 0 || !settings.witnesses.empty())
      return bad_input("witnesses of which log? Name the key of its owner (log_key)");
    return watch;
  }
  SOTTO_TRY(watch.owner_, rounds::digest_from_hex(settings.key, "log_key"));
  for (const std::string& witness : listed(settings.witnesses)) {
    SOTTO_TRY(const auto key, rounds::digest_from_hex(witness, "a key of log_witnesses"));
    watch.witnesses_.push_back(key);
  }
  watch.witnesses_needed_ = static_cast<std::uint64_t>(settings.witnesses_needed);
  if (watch.witnesses_needed_ > watch.witnesses_.size())
    return bad_input("log_witnesses_needed is {}, and log_witnesses names {}", watch.witnesses_needed_,
                     watch.witnesses_.size());
  std::error_code missing;
  if (!fs::exists(watch.file_, missing)) return watch;
  SOTTO_TRY(const std::string bytes, read_file(watch.file_, most_file_bytes));
  rounds::FieldReader fields(bytes);
  std::string head;
  visit_seen(fields, head, watch.proved_);
  if (auto read = fields.finish("what was seen of the public log"); !read)
    return tl::unexpected(std::move(read).error().in(watch.file_.string()));
  SOTTO_TRY(watch.seen_, rounds::decode_head(head));
  // Another owner's log is another list.
  if (!rounds::is_signed_by(*watch.seen_, *watch.owner_)) {
    watch.seen_.reset();
    watch.proved_.clear();
  }
  return watch;
}

std::optional<LogWatch::Seen> LogWatch::seen() const {
  if (!owner_ || !seen_) return std::nullopt;
  return Seen{*owner_, seen_->head, rounds::witnesses_of(*seen_, witnesses_), witnesses_needed_, proved_};
}

Status LogWatch::take(const rounds::LogProof& proof, const rounds::LogLeaf& leaf) {
  std::optional<rounds::LogHead> before;
  if (seen_) before = seen_->head;
  SOTTO_CHECK(rounds::check(proof, leaf, *owner_, before));
  const std::size_t cosigned = rounds::witnesses_of(proof.head, witnesses_);
  if (cosigned < witnesses_needed_)
    return failed("{} of the witnesses have cosigned the log of {} entries, {} are needed: try again later",
                  cosigned, proof.head.head.size, witnesses_needed_);
  seen_ = proof.head;
  if (proved_.size() == most_proved) proved_.erase(proved_.begin());
  proved_.push_back(leaf);
  rounds::FieldWriter fields;
  const std::string head = rounds::encode(*seen_);
  visit_seen(fields, head, proved_);
  return write_file_atomically(file_, std::move(fields).take(), FileReaders::owner);
}

Talk<Status> LogWatch::demand(Exchange& exchange, rounds::LogLeaf leaf) {
  if (!is_demanded() || std::find(proved_.begin(), proved_.end(), leaf) != proved_.end()) co_return Status();
  const std::uint64_t from = seen_ ? seen_->head.size : 0;
  SOTTO_CO_TRY(const ServerAnswer answer,
               co_await exchange.send(log_proof_call(rounds::name(leaf.kind), to_hex(leaf.hash), from)));
  if (answer.status != 200)
    co_return failed("the server does not prove that its {} is in the public log ({}: {}): it is not used",
                     rounds::name(leaf.kind), answer.status, error_text(answer));
  SOTTO_CO_TRY(const rounds::LogProof proof, rounds::decode_proof(answer.body));
  co_return take(proof, leaf);
}

}  // namespace sotto::device
