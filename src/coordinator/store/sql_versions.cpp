#include "base/chain_hash.h"
#include "coordinator/store/sql_store.h"

namespace sotto::coordinator {

namespace {

constexpr std::string_view version_columns =
    "versions.campaign, versions.round, model, parent, checkpoint, time, size";

Result<ModelVersion> version_of(const SqlRow& row) {
  ModelVersion version;
  SOTTO_TRY(version.campaign, row.digest(0));
  SOTTO_TRY(version.round, row.number(1));
  SOTTO_TRY(version.model, row.digest(2));
  SOTTO_TRY(version.parent, row.optional_digest(3));
  SOTTO_TRY(version.checkpoint, row.optional_digest(4));
  SOTTO_TRY(version.time, row.time(5));
  SOTTO_TRY(version.size, row.number(6));
  return version;
}

std::string current_version_query() {
  return fmt::format(
      "SELECT {} FROM versions JOIN current_versions ON current_versions.campaign = versions.campaign AND "
      "current_versions.round = versions.round WHERE versions.campaign = $1",
      version_columns);
}

Result<std::optional<ModelVersion>> one_version(Result<SqlAnswer> answer) {
  SOTTO_TRY(const SqlAnswer found, std::move(answer));
  if (found.rows.empty()) return std::optional<ModelVersion>();
  return version_of(found.rows[0]);
}

Result<std::optional<ModelVersion>> find_version(Connection& database, const Digest& campaign,
                                                 std::int64_t round) {
  return one_version(
      database.run(fmt::format("SELECT {} FROM versions WHERE campaign = $1 AND round = $2", version_columns),
                   {sql_bytes(campaign), round}));
}

Status make_current(Connection& database, const Digest& campaign, std::int64_t round) {
  SOTTO_CHECK(
      database.run("INSERT INTO current_versions(campaign, round) VALUES($1, $2) "
                   "ON CONFLICT (campaign) DO UPDATE SET round = $2",
                   {sql_bytes(campaign), round}));
  return {};
}

// Made of the version that devices have?
Status check_parent(Connection& database, const ModelVersion& version) {
  SOTTO_TRY(const auto current,
            one_version(database.run(current_version_query(), {sql_bytes(version.campaign)})));
  if (current && version.parent == current->model) return {};
  if (!current && !version.parent) return {};
  return conflict(fmt::format(
      "version {} is made of the model {}, and the current version is {}: abandon its round", version.round,
      version.parent ? to_hex(*version.parent) : "none", current ? to_hex(current->model) : "none"));
}

// The order that a version comes of.
Status fold_order(Connection& database, const ModelVersion& version, const Digest& round) {
  SOTTO_TRY(const StoredOrder order, find_order(database, round));
  if (order.campaign != version.campaign || order.number != version.round)
    return bad_input("the order {} is of round {} of the campaign {}, and the version of round {} of {}",
                     to_hex(round), order.number, to_hex(order.campaign), version.round,
                     to_hex(version.campaign));
  if (order.state != OrderState::summed)
    return bad_input("round {} is {}: a version is made of a round whose sums are sealed", order.number,
                     name(order.state));
  return end_order(database, order, OrderState::folded, "");
}

bool is_repeated(const ModelVersion& there, ModelVersion again) {
  again.time = there.time;
  return there == again;
}

}  // namespace

Status SqlStore::check_blobs(const ModelVersion& version) {
  SOTTO_TRY(const auto model, blobs_->size(version.model));
  if (model != version.size)
    return bad_input("the model {} is kept with {} bytes, and the version says {}: keep its blob first",
                     to_hex(version.model), model ? std::to_string(*model) : "no", version.size);
  if (!version.checkpoint) return {};
  SOTTO_TRY(const auto checkpoint, blobs_->size(*version.checkpoint));
  if (!checkpoint)
    return bad_input("there is no checkpoint {}: keep its blob first", to_hex(*version.checkpoint));
  return {};
}

Result<bool> SqlStore::has_blob(const Digest& hash) {
  SOTTO_TRY(const auto size, blobs_->size(hash));
  return size.has_value();
}

Status SqlStore::publish_version(const Fence& fence, const ModelVersion& version,
                                 const std::optional<Digest>& round, const LogAppend& log) {
  SOTTO_TRY(const std::int64_t number, sql_number(version.round, "the number of the version"));
  if ((version.round == 0) != !round || (version.round == 0) != !version.parent)
    return bad_input("version {}: version 0 has neither order nor parent, every other one has both",
                     version.round);
  SOTTO_CHECK(check_blobs(version));  // blobs are never removed
  return writer_.write([&](Connection& database) -> Status {
    SOTTO_CHECK(check_fence(database, fence));
    SOTTO_TRY(const auto there, find_version(database, version.campaign, number));
    if (there && is_repeated(*there, version)) return {};
    if (there)
      return conflict(fmt::format("the campaign has another version {}, the model {}", version.round,
                                  to_hex(there->model)));
    SOTTO_CHECK(check_parent(database, version));
    SOTTO_CHECK(database.run(
        "INSERT INTO versions(campaign, round, model, parent, checkpoint, time, size) VALUES($1, $2, $3, $4, "
        "$5, $6, $7)",
        {sql_bytes(version.campaign), number, sql_bytes(version.model), sql_bytes_or_null(version.parent),
         sql_bytes_or_null(version.checkpoint), sql_time(version.time),
         static_cast<std::int64_t>(version.size)}));
    SOTTO_CHECK(make_current(database, version.campaign, number));
    if (round) SOTTO_CHECK(fold_order(database, version, *round));
    return append(database, log);
  });
}

Status SqlStore::roll_back(const Digest& campaign, std::uint64_t version, UtcTime now, std::string_view why) {
  SOTTO_TRY(const std::int64_t number, sql_number(version, "the number of the version"));
  return writer_.write([&](Connection& database) -> Status {
    SOTTO_TRY(const auto there, find_version(database, campaign, number));
    if (!there) return bad_input("the campaign {} has no version {}", to_hex(campaign), version);
    SOTTO_TRY(const auto current, one_version(database.run(current_version_query(), {sql_bytes(campaign)})));
    if (current && current->round == version) return {};
    SOTTO_CHECK(make_current(database, campaign, number));
    return note(database,
                {now, "roll back", fmt::format("{} to version {}: {}", to_hex(campaign), version, why)});
  });
}

Result<std::optional<ModelVersion>> SqlStore::current_version(const Digest& campaign) {
  return one_version(reader_.ask(current_version_query(), {sql_bytes(campaign)}));
}

Result<std::vector<ModelVersion>> SqlStore::versions(const Digest& campaign) {
  SOTTO_TRY(
      const SqlAnswer found,
      reader_.ask(fmt::format("SELECT {} FROM versions WHERE campaign = $1 ORDER BY round", version_columns),
                  {sql_bytes(campaign)}));
  std::vector<ModelVersion> versions;
  for (const SqlRow& row : found.rows) {
    SOTTO_TRY(versions.emplace_back(), version_of(row));
  }
  return versions;
}

}  // namespace sotto::coordinator
