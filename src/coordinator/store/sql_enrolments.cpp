#include <algorithm>

#include "base/chain_hash.h"
#include "coordinator/store/sql_store.h"

namespace sotto::coordinator {

Result<Enrolment> SqlStore::enrol(const Enrolment& enrolment) {
  return writer_.write([&](Connection& database) -> Result<Enrolment> {
    SOTTO_TRY(
        const SqlAnswer found,
        database.run("SELECT device, token, time, revoked FROM enrolments WHERE device = $1 OR token = $2",
                     {sql_bytes(enrolment.device), sql_bytes(enrolment.token)}));
    for (const SqlRow& row : found.rows) {
      Enrolment there;
      SOTTO_TRY(there.device, row.digest(0));
      SOTTO_TRY(there.token, row.digest(1));
      SOTTO_TRY(there.time, row.time(2));
      if (there.device != enrolment.device)
        return conflict("this token has enrolled another device: ask the operator for one of your own");
      if (!row.is_null(3))
        return bad_input("the device {} was revoked: it can enrol again with a new key only",
                         to_hex(enrolment.device));
      if (there.token != enrolment.token)
        return conflict(
            fmt::format("the device {} is enrolled already, by another token", to_hex(there.device)));
      return there;
    }
    SOTTO_CHECK(
        database.run("INSERT INTO enrolments(device, token, time) VALUES($1, $2, $3)",
                     {sql_bytes(enrolment.device), sql_bytes(enrolment.token), sql_time(enrolment.time)}));
    return enrolment;
  });
}

Status SqlStore::revoke(const IdentityKey& device, UtcTime now, std::string_view why) {
  return writer_.write([&](Connection& database) -> Status {
    SOTTO_TRY(const SqlAnswer found,
              database.run("SELECT revoked FROM enrolments WHERE device = $1", {sql_bytes(device)}));
    if (found.rows.empty()) return bad_input("there is no device {}: nothing to revoke", to_hex(device));
    if (!found.rows[0].is_null(0)) return {};
    SOTTO_CHECK(database.run("UPDATE enrolments SET revoked = $2 WHERE device = $1",
                             {sql_bytes(device), sql_time(now)}));
    return note(database, {now, "revoke", fmt::format("{}: {}", to_hex(device), why)});
  });
}

namespace {
// One statement for up to so many devices; fewer are filled up with the last.
constexpr std::size_t devices_at_once = 64;
const std::string& which_are_enrolled() {
  static const std::string sql = [] {
    std::string list;
    for (std::size_t i = 1; i <= devices_at_once; ++i) list += fmt::format("{}${}", i == 1 ? "" : ", ", i);
    return fmt::format("SELECT device FROM enrolments WHERE revoked IS NULL AND device IN ({})", list);
  }();
  return sql;
}
}  // namespace

Result<std::vector<bool>> SqlStore::are_enrolled(std::span<const IdentityKey> devices) {
  std::vector<bool> answers;
  answers.reserve(devices.size());
  while (!devices.empty()) {
    const auto batch = devices.first(std::min(devices.size(), devices_at_once));
    std::vector<Digest> known;
    const auto learn = [&](const SqlAnswer& found) -> Status {
      for (const SqlRow& row : found.rows) {
        SOTTO_TRY(known.emplace_back(), row.digest(0));
      }
      return {};
    };
    if (batch.size() == 1) {
      SOTTO_TRY(const SqlAnswer found,
                reader_.ask("SELECT device FROM enrolments WHERE device = $1 AND revoked IS NULL",
                            {sql_bytes(batch[0])}));
      SOTTO_CHECK(learn(found));
    } else {
      std::vector<SqlParameter> parameters;
      for (std::size_t i = 0; i < devices_at_once; ++i)
        parameters.emplace_back(sql_bytes(batch[std::min(i, batch.size() - 1)]));
      SOTTO_TRY(const SqlAnswer found, reader_.ask(which_are_enrolled(), parameters));
      SOTTO_CHECK(learn(found));
    }
    for (const IdentityKey& device : batch)
      answers.push_back(std::find(known.begin(), known.end(), device) != known.end());
    devices = devices.subspan(batch.size());
  }
  return answers;
}

Result<std::uint64_t> SqlStore::count_enrolled() {
  SOTTO_TRY(const SqlAnswer counted, reader_.ask("SELECT COUNT(*) FROM enrolments WHERE revoked IS NULL"));
  return counted.rows.at(0).number(0);
}

}  // namespace sotto::coordinator
