// The public log of a campaign: what is entered in it, and what devices and witnesses are shown of it.

#include "base/chain_hash.h"
#include "coordinator/campaign_run.h"

namespace sotto::coordinator {

namespace {

constexpr std::uint64_t records_at_once = 1000;

}  // namespace

Status CampaignRun::replay_log() {
  while (true) {
    SOTTO_TRY(const auto records, parts_.store.log_records(log_records_, records_at_once));
    if (records.empty()) break;
    for (const std::string& record : records) SOTTO_CHECK(log_.take(record));
    log_records_ += records.size();
  }
  if (!log_.is_complete()) return failed("the log of {} ends before its head", parts_.store.location());
  return {};
}

Result<LogAppend> CampaignRun::log_entry(const rounds::LogLeaf& leaf) const {
  const std::lock_guard lock(mutex_);
  LogAppend append{log_records_, {}};
  if (log_.find(leaf)) return append;
  UtcTime now = parts_.clock();
  if (log_.head()) now = std::max(now, log_.head()->head.time);  // a clock that was set back
  SOTTO_TRY(append.records, log_.records_for(leaf, parts_.key, now));
  return append;
}

Status CampaignRun::take(const LogAppend& appended) {
  const std::lock_guard lock(mutex_);
  for (const std::string& record : appended.records) SOTTO_CHECK(log_.take(record));
  log_records_ += appended.records.size();
  return {};
}

Status CampaignRun::enter_key_changes(std::span<const std::string> documents) {
  const std::lock_guard changing(changing_);
  const std::vector<rounds::LogLeaf> leaves = log_.leaves();
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].kind != rounds::LeafKind::keys) continue;
    SOTTO_TRY(const std::string document, parts_.store.blob(leaves[i].hash));
    SOTTO_TRY(const auto change, rounds::open_key_change(document));
    // Whoever was shipped with a later key than the first passes over changes before it, as devices do.
    static_cast<void>(keys_.follow(change, i));
    parts_.show_lasting(leaves[i].hash, document);
  }
  for (const std::string& document : documents) {
    const rounds::LogLeaf leaf{rounds::LeafKind::keys, rounds::blob_hash(document)};
    if (log_.find(leaf)) continue;
    SOTTO_TRY(const auto change, rounds::open_key_change(document));
    if (!keys_.follow(change, log_.leaves().size()))
      return bad_input(
          "the change to the key {} is not signed by the operator {}, nor by its recovery key: no device "
          "would "
          "follow it",
          to_hex(change.change.after), to_hex(keys_.current()));
    SOTTO_CHECK(parts_.store.keep_blob(document));
    SOTTO_TRY(const LogAppend entry, log_entry(leaf));
    SOTTO_CHECK(parts_.store.append_to_log(parts_.fence, entry));
    SOTTO_CHECK(take(entry));
    parts_.show_lasting(leaf.hash, document);
  }
  return {};
}

Status CampaignRun::enter_campaign() {
  const std::lock_guard changing(changing_);
  const rounds::LogLeaf leaf{rounds::LeafKind::campaign, campaign_.hash};
  SOTTO_CHECK(keys_.check(campaign_, log_.find(leaf).value_or(log_.leaves().size())));
  SOTTO_TRY(const LogAppend entry, log_entry(leaf));
  SOTTO_TRY(const bool is_new,
            parts_.store.add_campaign(
                parts_.fence, {campaign_.hash, document_, CampaignState::open, parts_.clock()}, entry));
  return is_new ? take(entry) : Status{};
}

rounds::LogPage CampaignRun::log_page(std::uint64_t from) const {
  const std::lock_guard lock(mutex_);
  rounds::LogPage page{from, {}};
  const auto& leaves = log_.leaves();
  for (std::uint64_t i = from; i < leaves.size() && page.entries.size() < rounds::LogPage::most; ++i)
    page.entries.push_back(leaves[i]);
  return page;
}

rounds::SignedHead CampaignRun::head() const {
  const std::lock_guard lock(mutex_);
  return *log_.head();
}

Status CampaignRun::cosign(const rounds::HeadCosignature& word) {
  const std::lock_guard changing(changing_);
  LogAppend append;
  {
    const std::lock_guard lock(mutex_);
    append.first = log_records_;
    SOTTO_TRY(const std::string record, log_.record_for(word));
    append.records = {record};
  }
  SOTTO_CHECK(parts_.store.append_to_log(parts_.fence, append));
  return take(append);
}

}  // namespace sotto::coordinator
