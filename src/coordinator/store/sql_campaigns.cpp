#include <array>

#include "base/chain_hash.h"
#include "coordinator/store/sql_store.h"

namespace sotto::coordinator {

namespace {

constexpr std::array campaign_states{CampaignState::open, CampaignState::paused, CampaignState::finished};

Result<StoredCampaign> campaign_of(const SqlRow& row) {
  StoredCampaign campaign;
  SOTTO_TRY(campaign.hash, row.digest(0));
  SOTTO_TRY(campaign.document, row.bytes(1));
  SOTTO_TRY(campaign.state, row.choice(2, campaign_states));
  SOTTO_TRY(campaign.time, row.time(3));
  return campaign;
}

}  // namespace

Result<bool> SqlStore::add_campaign(const Fence& fence, const StoredCampaign& campaign,
                                    const LogAppend& log) {
  return writer_.write([&](Connection& database) -> Result<bool> {
    SOTTO_CHECK(check_fence(database, fence));
    SOTTO_TRY(const SqlAnswer found,
              database.run("SELECT document FROM campaigns WHERE hash = $1", {sql_bytes(campaign.hash)}));
    if (!found.rows.empty()) {
      SOTTO_TRY(const std::string there, found.rows[0].bytes(0));
      if (there != campaign.document)
        return conflict(
            fmt::format("the campaign {} is kept with another signature: show it with 'sotto campaign show'",
                        to_hex(campaign.hash)));
      return false;
    }
    SOTTO_CHECK(
        database.run("INSERT INTO campaigns(place, hash, document, state, time) "
                     "SELECT COALESCE(MAX(place) + 1, 0), $1, $2, $3, $4 FROM campaigns",
                     {sql_bytes(campaign.hash), SqlBytes{campaign.document}, name(CampaignState::open),
                      sql_time(campaign.time)}));
    SOTTO_CHECK(append(database, log));
    return true;
  });
}

Status SqlStore::set_state(const Digest& campaign, CampaignState state, UtcTime now, std::string_view why) {
  return writer_.write([&](Connection& database) -> Status {
    SOTTO_TRY(const SqlAnswer found,
              database.run("SELECT hash, document, state, time FROM campaigns WHERE hash = $1",
                           {sql_bytes(campaign)}));
    if (found.rows.empty()) return bad_input("there is no campaign {}", to_hex(campaign));
    SOTTO_TRY(const StoredCampaign there, campaign_of(found.rows[0]));
    if (there.state == state) return {};
    if (there.state == CampaignState::finished)
      return bad_input("the campaign {} is finished and cannot be {} again: sign a new one", to_hex(campaign),
                       name(state));
    SOTTO_CHECK(
        database.run("UPDATE campaigns SET state = $2 WHERE hash = $1", {sql_bytes(campaign), name(state)}));
    return note(database,
                {now, fmt::format("campaign {}", name(state)), fmt::format("{}: {}", to_hex(campaign), why)});
  });
}

Result<std::vector<StoredCampaign>> SqlStore::campaigns() {
  SOTTO_TRY(const SqlAnswer found,
            reader_.ask("SELECT hash, document, state, time FROM campaigns ORDER BY place"));
  std::vector<StoredCampaign> campaigns;
  for (const SqlRow& row : found.rows) {
    SOTTO_TRY(campaigns.emplace_back(), campaign_of(row));
  }
  return campaigns;
}

namespace {
// Appended before, by a call whose answer was lost?
Result<bool> stands_in_log(Connection& database, const LogAppend& log) {
  SOTTO_TRY(const std::int64_t first, sql_number(log.first, "the first record"));
  SOTTO_TRY(const SqlAnswer found,
            database.run("SELECT record FROM public_log WHERE place >= $1 ORDER BY place LIMIT $2",
                         {first, static_cast<std::int64_t>(log.records.size())}));
  if (found.rows.size() != log.records.size()) return false;
  for (std::size_t i = 0; i < log.records.size(); ++i) {
    SOTTO_TRY(const std::string record, found.rows[i].bytes(0));
    if (record != log.records[i]) return false;
  }
  return true;
}
}  // namespace

Status append(Connection& database, const LogAppend& log) {
  if (log.records.empty()) return {};
  SOTTO_TRY(const SqlAnswer counted, database.run("SELECT COALESCE(MAX(place) + 1, 0) FROM public_log"));
  SOTTO_TRY(const std::uint64_t size, counted.rows.at(0).number(0));
  if (size != log.first) {
    SOTTO_TRY(const bool stands, stands_in_log(database, log));
    if (stands) return {};
    return conflict(fmt::format(
        "the public log has {} records, and what is to be appended follows {}: read the log and make it "
        "again",
        size, log.first));
  }
  auto place = static_cast<std::int64_t>(size);
  for (const std::string& record : log.records)
    SOTTO_CHECK(
        database.run("INSERT INTO public_log(place, record) VALUES($1, $2)", {place++, SqlBytes{record}}));
  return {};
}

Status SqlStore::append_to_log(const Fence& fence, const LogAppend& log) {
  return writer_.write([&](Connection& database) -> Status {
    SOTTO_CHECK(check_fence(database, fence));
    return append(database, log);
  });
}

Result<std::vector<std::string>> SqlStore::log_records(std::uint64_t from, std::uint64_t most) {
  SOTTO_TRY(const std::int64_t first, sql_number(from, "the first record"));
  SOTTO_TRY(const std::int64_t count, sql_number(most, "the number of records"));
  SOTTO_TRY(
      const SqlAnswer found,
      reader_.ask("SELECT record FROM public_log WHERE place >= $1 ORDER BY place LIMIT $2", {first, count}));
  std::vector<std::string> records;
  for (const SqlRow& row : found.rows) {
    SOTTO_TRY(records.emplace_back(), row.bytes(0));
  }
  return records;
}

Result<std::uint64_t> SqlStore::log_size() {
  SOTTO_TRY(const SqlAnswer counted, reader_.ask("SELECT COALESCE(MAX(place) + 1, 0) FROM public_log"));
  return counted.rows.at(0).number(0);
}

}  // namespace sotto::coordinator
