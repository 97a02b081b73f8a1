#include <cmath>

#include "base/chain_hash.h"
#include "coordinator/store/sql_store.h"

namespace sotto::coordinator {

namespace {

// Both databases keep whole numbers alike, so that what is read is what was written.
constexpr double billion = 1e9;
std::int64_t billionths(double value) { return std::llround(value * billion); }

Result<Evaluation> evaluation_of(const SqlRow& row) {
  Evaluation one;
  SOTTO_TRY(one.campaign, row.digest(0));
  SOTTO_TRY(one.version, row.number(1));
  SOTTO_TRY(one.devices, row.number(2));
  SOTTO_TRY(const std::int64_t auc, row.integer(3));
  SOTTO_TRY(const std::int64_t noise, row.integer(4));
  one.auc = static_cast<double>(auc) / billion;
  one.noise = static_cast<double>(noise) / billion;
  SOTTO_TRY(one.time, row.time(5));
  return one;
}

constexpr std::string_view columns = "campaign, version, devices, auc, noise, time";

}  // namespace

Status check_unmeasured(Connection& database, const Digest& campaign, std::uint64_t version) {
  SOTTO_TRY(const std::int64_t number, sql_number(version, "the number of the version"));
  SOTTO_TRY(const SqlAnswer there,
            database.run("SELECT round FROM versions WHERE campaign = $1 AND round = $2",
                         {sql_bytes(campaign), number}));
  if (there.rows.empty()) return bad_input("the campaign {} has no version {}", to_hex(campaign), version);
  SOTTO_TRY(const SqlAnswer measured,
            database.run("SELECT version FROM evaluations WHERE campaign = $1 AND version = $2",
                         {sql_bytes(campaign), number}));
  if (!measured.rows.empty())
    return conflict(fmt::format("version {} was measured already, which stands", version));
  return {};
}

Status SqlStore::keep_evaluation(const Fence& fence, const Evaluation& evaluation) {
  SOTTO_TRY(const std::int64_t version, sql_number(evaluation.version, "the number of the version"));
  SOTTO_TRY(const std::int64_t devices, sql_number(evaluation.devices, "the number of devices"));
  constexpr double most = 1000;
  if (!(std::abs(evaluation.auc) < most && evaluation.noise >= 0 && evaluation.noise < most))
    return bad_input("version {} was measured as {} ± {}: that is no AUC", evaluation.version, evaluation.auc,
                     evaluation.noise);
  return writer_.write([&](Connection& database) -> Status {
    SOTTO_CHECK(check_fence(database, fence));
    SOTTO_TRY(
        const SqlAnswer found,
        database.run(fmt::format("SELECT {} FROM evaluations WHERE campaign = $1 AND version = $2", columns),
                     {sql_bytes(evaluation.campaign), version}));
    if (!found.rows.empty()) {
      SOTTO_TRY(Evaluation known, evaluation_of(found.rows[0]));
      known.time = evaluation.time;
      if (known == evaluation) return {};
      return conflict(fmt::format("version {} was measured already, which stands", evaluation.version));
    }
    SOTTO_TRY(const SqlAnswer ordered,
              database.run("UPDATE evaluation_orders SET state = $3 WHERE campaign = $1 AND number = $2 AND "
                           "state = $4",
                           {sql_bytes(evaluation.campaign), version, name(OrderState::folded),
                            name(OrderState::unmasking)}));
    if (ordered.changed == 0)
      return bad_input("no device was asked to measure version {} of the campaign {}", evaluation.version,
                       to_hex(evaluation.campaign));
    SOTTO_CHECK(
        database.run("INSERT INTO evaluations(campaign, version, devices, auc, noise, time) VALUES($1, $2, "
                     "$3, $4, $5, $6)",
                     {sql_bytes(evaluation.campaign), version, devices, billionths(evaluation.auc),
                      billionths(evaluation.noise), sql_time(evaluation.time)}));
    return {};
  });
}

Result<std::vector<Evaluation>> SqlStore::evaluations(const Digest& campaign) {
  SOTTO_TRY(
      const SqlAnswer found,
      reader_.ask(fmt::format("SELECT {} FROM evaluations WHERE campaign = $1 ORDER BY version", columns),
                  {sql_bytes(campaign)}));
  std::vector<Evaluation> evaluations;
  for (const SqlRow& row : found.rows) {
    SOTTO_TRY(evaluations.emplace_back(), evaluation_of(row));
  }
  return evaluations;
}

}  // namespace sotto::coordinator
