#include "base/utf8.h"
#include "coordinator/store/sql_store.h"

namespace sotto::coordinator {

tl::unexpected<Error> conflict(std::string message) {
  return tl::unexpected(Error{ErrorKind::conflict, std::move(message)});
}

Status check_text(std::string_view what, std::string_view text, std::size_t most) {
  if (text.size() > most)
    return bad_input("{} has {} bytes, and at most {} are kept", what, text.size(), most);
  if (!is_printable(text)) return bad_input("{} '{}' is not printable text in UTF-8", what, printable(text));
  return {};
}

namespace {

Result<std::optional<Lease>> find_lease(Connection& database, std::string_view name) {
  SOTTO_TRY(const SqlAnswer found,
            database.run("SELECT owner, until, fence FROM leases WHERE name = $1", {name}));
  if (found.rows.empty()) return std::optional<Lease>();
  Lease lease;
  lease.fence.lease = name;
  SOTTO_TRY(lease.owner, found.rows[0].bytes(0));
  SOTTO_TRY(lease.until, found.rows[0].time(1));
  SOTTO_TRY(lease.fence.number, found.rows[0].number(2));
  return lease;
}

}  // namespace

Status check_fence(Connection& database, const Fence& fence) {
  SOTTO_TRY(const auto lease, find_lease(database, fence.lease));
  if (!lease) return bad_input("nobody has acquired the lease '{}': acquire it before writing", fence.lease);
  if (lease->fence == fence) return {};
  return conflict(fmt::format(
      "the lease '{}' was acquired by {} since (fence {}, and this write carries {}): stop writing, and "
      "acquire it again",
      fence.lease, lease->owner, lease->fence.number, fence.number));
}

Result<Lease> SqlStore::acquire(std::string_view name, std::string_view owner, UtcTime now,
                                std::chrono::seconds duration) {
  if (name.empty() || owner.empty()) return bad_input("a lease needs a name, and its owner too");
  SOTTO_CHECK(check_text("the name of the lease", name, most_name_bytes));
  SOTTO_CHECK(check_text("the name of the owner", owner, most_name_bytes));
  if (duration <= std::chrono::seconds(0)) return bad_input("a lease of {} s is none", duration.count());
  return writer_.write([&](Connection& database) -> Result<Lease> {
    SOTTO_TRY(const auto held, find_lease(database, name));
    if (held && held->owner != owner && held->until > now)
      return conflict(fmt::format("the lease '{}' is held by {} until {}: end that process, or wait", name,
                                  held->owner, privacy::to_text(held->until)));
    const Lease lease{
        {std::string(name), held ? held->fence.number + 1 : 1}, std::string(owner), now + duration};
    SOTTO_CHECK(database.run(
        "INSERT INTO leases(name, owner, until, fence) VALUES($1, $2, $3, $4) ON CONFLICT (name) "
        "DO UPDATE SET owner = $2, until = $3, fence = $4",
        {name, owner, sql_time(lease.until), static_cast<std::int64_t>(lease.fence.number)}));
    return lease;
  });
}

Result<Lease> SqlStore::renew(const Lease& lease, UtcTime now, std::chrono::seconds duration) {
  return writer_.write([&](Connection& database) -> Result<Lease> {
    SOTTO_CHECK(check_fence(database, lease.fence));
    Lease longer = lease;
    longer.until = now + duration;
    SOTTO_CHECK(database.run("UPDATE leases SET until = $2 WHERE name = $1",
                             {std::string_view(lease.fence.lease), sql_time(longer.until)}));
    return longer;
  });
}

Status SqlStore::release(const Lease& lease) {
  return writer_.write([&](Connection& database) -> Status {
    // The row stays, for its number; before all time it is over for everybody.
    SOTTO_CHECK(
        database.run("UPDATE leases SET until = 0 WHERE name = $1 AND fence = $2",
                     {std::string_view(lease.fence.lease), static_cast<std::int64_t>(lease.fence.number)}));
    return {};
  });
}

Status note(Connection& database, const AdminAction& action) {
  SOTTO_CHECK(check_text("the name of the action", action.action, most_name_bytes));
  SOTTO_CHECK(check_text("what is said about the action", action.detail, most_words_bytes));
  SOTTO_CHECK(database.run(
      "INSERT INTO admin_actions(place, time, action, detail) "
      "SELECT COALESCE(MAX(place) + 1, 0), $1, $2, $3 FROM admin_actions",
      {sql_time(action.time), std::string_view(action.action), std::string_view(action.detail)}));
  return {};
}

Status SqlStore::note_action(const AdminAction& action) {
  return writer_.write([&](Connection& database) { return note(database, action); });
}

Result<std::vector<AdminAction>> SqlStore::actions(std::uint64_t from, std::uint64_t most) {
  SOTTO_TRY(const std::int64_t first, sql_number(from, "the first action"));
  SOTTO_TRY(const std::int64_t count, sql_number(most, "the number of actions"));
  SOTTO_TRY(
      const SqlAnswer found,
      reader_.ask("SELECT time, action, detail FROM admin_actions WHERE place >= $1 ORDER BY place LIMIT $2",
                  {first, count}));
  std::vector<AdminAction> actions;
  for (const SqlRow& row : found.rows) {
    AdminAction& action = actions.emplace_back();
    SOTTO_TRY(action.time, row.time(0));
    SOTTO_TRY(action.action, row.bytes(1));
    SOTTO_TRY(action.detail, row.bytes(2));
  }
  return actions;
}

Status SqlStore::check() {
  SOTTO_CHECK(reader_.ask("SELECT steps FROM sotto_store"));
  return {};
}

}  // namespace sotto::coordinator
