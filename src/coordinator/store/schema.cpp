#include "coordinator/store/schema.h"

#include "base/chain_hash.h"

namespace sotto::coordinator {

namespace {

// {0}: bytes, {1}: a number of 64 bits, {2}: what follows a table's definition.
constexpr std::string_view tables[] = {
    R"(CREATE TABLE enrolments(
  device {0} PRIMARY KEY CHECK(length(device) = 32),
  token {0} NOT NULL UNIQUE CHECK(length(token) = 32),
  time {1} NOT NULL,
  revoked {1}){2})",
    R"(CREATE TABLE campaigns(
  hash {0} PRIMARY KEY CHECK(length(hash) = 32),
  place {1} NOT NULL UNIQUE,
  document {0} NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('open', 'paused', 'finished')),
  time {1} NOT NULL){2})",
    R"(CREATE TABLE orders(
  round {0} PRIMARY KEY CHECK(length(round) = 32),
  place {1} NOT NULL UNIQUE,
  number {1} NOT NULL CHECK(number >= 1),
  campaign {0} NOT NULL REFERENCES campaigns(hash),
  document {0} NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('open', 'unmasking', 'summed', 'folded', 'abandoned')),
  why TEXT NOT NULL){2})",
    "CREATE UNIQUE INDEX orders_alive ON orders(campaign, number) WHERE state <> 'abandoned'",
    "CREATE INDEX orders_unfinished ON orders(place) WHERE state IN ('open', 'unmasking', 'summed')",
    R"(CREATE TABLE group_sums(
  round {0} NOT NULL REFERENCES orders(round),
  group_index {1} NOT NULL CHECK(group_index >= 0),
  arrived {1} NOT NULL CHECK(arrived >= 0),
  entries {0} NOT NULL CHECK(length(entries) % 4 = 0),
  PRIMARY KEY(round, group_index)){2})",
    R"(CREATE TABLE versions(
  campaign {0} NOT NULL REFERENCES campaigns(hash),
  round {1} NOT NULL CHECK(round >= 0),
  model {0} NOT NULL CHECK(length(model) = 32),
  parent {0} CHECK(length(parent) = 32),
  checkpoint {0} CHECK(length(checkpoint) = 32),
  time {1} NOT NULL,
  size {1} NOT NULL CHECK(size >= 0),
  PRIMARY KEY(campaign, round),
  CHECK((round = 0) = (parent IS NULL))){2})",
    R"(CREATE TABLE current_versions(
  campaign {0} PRIMARY KEY,
  round {1} NOT NULL,
  FOREIGN KEY(campaign, round) REFERENCES versions(campaign, round)){2})",
    R"(CREATE TABLE public_log(
  place {1} PRIMARY KEY CHECK(place >= 0),
  record {0} NOT NULL){2})",
    R"(CREATE TABLE leases(
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  until {1} NOT NULL,
  fence {1} NOT NULL CHECK(fence >= 1)){2})",
    R"(CREATE TABLE admin_actions(
  place {1} PRIMARY KEY,
  time {1} NOT NULL,
  action TEXT NOT NULL,
  detail TEXT NOT NULL){2})",
};

// What came with the second version of the store.
constexpr std::string_view evaluation_tables[] = {
    R"(CREATE TABLE evaluations(
  campaign {0} NOT NULL,
  version {1} NOT NULL,
  devices {1} NOT NULL CHECK(devices >= 0),
  auc {1} NOT NULL,
  noise {1} NOT NULL CHECK(noise >= 0),
  time {1} NOT NULL,
  PRIMARY KEY(campaign, version),
  FOREIGN KEY(campaign, version) REFERENCES versions(campaign, round)){2})",
};

// And with the third: orders that measure are written down as those that train are, and of both it is kept
// whether devices were charged. Of orders from before nobody knows: they count.
constexpr std::string_view counted_order_tables[] = {
    "ALTER TABLE orders ADD COLUMN charged {1} NOT NULL DEFAULT 1 CHECK(charged IN (0, 1))",
    R"(CREATE TABLE evaluation_orders(
  round {0} PRIMARY KEY CHECK(length(round) = 32),
  place {1} NOT NULL UNIQUE,
  number {1} NOT NULL,
  campaign {0} NOT NULL,
  document {0} NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('open', 'unmasking', 'folded', 'abandoned')),
  why TEXT NOT NULL,
  charged {1} NOT NULL CHECK(charged IN (0, 1)),
  FOREIGN KEY(campaign, number) REFERENCES versions(campaign, round)){2})",
    "CREATE UNIQUE INDEX evaluation_orders_once ON evaluation_orders(campaign, number) WHERE charged = 1 OR "
    "state = 'open'",
    R"(CREATE VIEW every_order AS
  SELECT place, round, number, campaign, document, state, why, charged, CAST(0 AS {1}) AS evaluates FROM orders
  UNION ALL
  SELECT place, round, number, campaign, document, state, why, charged, CAST(1 AS {1}) FROM evaluation_orders)",
};

// And with the fourth: who spoiled a group.
constexpr std::string_view left_out_tables[] = {
    R"(CREATE TABLE left_out(
  campaign {0} NOT NULL REFERENCES campaigns(hash),
  device {0} NOT NULL CHECK(length(device) = 32),
  round {0} NOT NULL CHECK(length(round) = 32),
  PRIMARY KEY(campaign, device)){2})",
};

// Version and owner of the store itself; known before all steps.
constexpr std::string_view facts_table =
    "CREATE TABLE IF NOT EXISTS sotto_store(single {1} PRIMARY KEY CHECK(single = 1), steps {1} NOT NULL, "
    "owner {0} NOT "
    "NULL){2}";

// Where several nodes must see them, blobs are rows, cut in parts.
constexpr std::string_view blob_tables[] = {
    "CREATE TABLE blobs(hash {0} PRIMARY KEY CHECK(length(hash) = 32), size {1} NOT NULL){2}",
    R"(CREATE TABLE blob_parts(
  hash {0} NOT NULL REFERENCES blobs(hash),
  part {1} NOT NULL,
  bytes {0} NOT NULL,
  PRIMARY KEY(hash, part)){2})",
};

// What no statement may do, whoever wrote it.
struct Guard {
  std::string_view name, table, when, unless, message;
};
constexpr Guard guards[] = {
    {"order_steps", "orders", "UPDATE",
     "OLD.round = NEW.round AND OLD.campaign = NEW.campaign AND OLD.number = NEW.number AND OLD.document = "
     "NEW.document "
     "AND (OLD.state = 'open' AND NEW.state IN ('unmasking', 'abandoned')"
     " OR OLD.state = 'unmasking' AND NEW.state IN ('summed', 'abandoned')"
     " OR OLD.state = 'summed' AND NEW.state IN ('folded', 'abandoned'))",
     "an order goes from open to unmasking, summed and folded, or is abandoned"},
    {"orders_stay", "orders", "DELETE", "1 = 0", "orders are never removed"},
    {"campaign_steps", "campaigns", "UPDATE",
     "OLD.hash = NEW.hash AND OLD.document = NEW.document AND OLD.state <> 'finished'",
     "a campaign that is finished stays so, and its document is never changed"},
    {"campaigns_stay", "campaigns", "DELETE", "1 = 0", "campaigns are never removed"},
    {"versions_fixed", "versions", "UPDATE", "1 = 0", "versions are never changed"},
    {"versions_stay", "versions", "DELETE", "1 = 0", "versions are never removed"},
    {"log_fixed", "public_log", "UPDATE", "1 = 0", "the public log only grows"},
    {"log_stays", "public_log", "DELETE", "1 = 0", "the public log only grows"},
    {"enrolment_steps", "enrolments", "UPDATE",
     "OLD.device = NEW.device AND OLD.token = NEW.token AND OLD.revoked IS NULL",
     "an enrolment that was revoked stays so"},
    {"enrolments_stay", "enrolments", "DELETE", "1 = 0", "tokens that were used stay used"},
    {"fences_rise", "leases", "UPDATE", "NEW.fence >= OLD.fence", "fences only rise"},
    {"leases_stay", "leases", "DELETE", "1 = 0", "fences only rise"},
    {"actions_fixed", "admin_actions", "UPDATE", "1 = 0", "what people did is never changed"},
    {"actions_stay", "admin_actions", "DELETE", "1 = 0", "what people did is never removed"},
};

constexpr Guard evaluation_guards[] = {
    {"evaluations_fixed", "evaluations", "UPDATE", "1 = 0", "what devices said is never changed"},
    {"evaluations_stay", "evaluations", "DELETE", "1 = 0", "what devices said is never removed"},
};

constexpr Guard counted_order_guards[] = {
    {"charges_stay", "orders", "UPDATE", "NEW.charged >= OLD.charged",
     "what devices were charged for is counted for good"},
    {"evaluation_order_steps", "evaluation_orders", "UPDATE",
     "OLD.round = NEW.round AND OLD.campaign = NEW.campaign AND OLD.number = NEW.number AND OLD.document = "
     "NEW.document AND NEW.charged >= OLD.charged "
     "AND (OLD.state = 'open' AND NEW.state IN ('unmasking', 'abandoned')"
     " OR OLD.state = 'unmasking' AND NEW.state IN ('folded', 'abandoned'))",
     "an order that measures goes from open to unmasking and folded, or is abandoned"},
    {"evaluation_orders_stay", "evaluation_orders", "DELETE", "1 = 0", "orders are never removed"},
};

constexpr Guard left_out_guards[] = {
    {"left_out_fixed", "left_out", "UPDATE", "1 = 0", "whoever is left out of a campaign stays so"},
    {"left_out_stays", "left_out", "DELETE", "1 = 0", "whoever is left out of a campaign stays so"},
};

std::string trigger(const Guard& guard, SqlDialect dialect) {
  return dialect == SqlDialect::sqlite
             ? fmt::format(
                   "CREATE TRIGGER {} BEFORE {} ON {} WHEN NOT ({}) BEGIN SELECT RAISE(ABORT, '{}'); END",
                   guard.name, guard.when, guard.table, guard.unless, guard.message)
             : fmt::format(
                   "CREATE TRIGGER {} BEFORE {} ON {} FOR EACH ROW WHEN (NOT ({})) EXECUTE FUNCTION "
                   "sotto_refuse('{}')",
                   guard.name, guard.when, guard.table, guard.unless, guard.message);
}

std::string in_dialect(std::string_view table, SqlDialect dialect) {
  return dialect == SqlDialect::sqlite ? fmt::format(fmt::runtime(table), "BLOB", "INTEGER", " STRICT")
                                       : fmt::format(fmt::runtime(table), "BYTEA", "BIGINT", "");
}

SchemaStep first_step(SqlDialect dialect) {
  const bool shared = dialect == SqlDialect::postgresql;
  SchemaStep step;
  const auto add = [&](std::string_view table) { step.push_back(in_dialect(table, dialect)); };
  for (const std::string_view table : tables) add(table);
  if (shared) {
    for (const std::string_view table : blob_tables) add(table);
    step.emplace_back(
        "CREATE FUNCTION sotto_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END$$");
  }
  for (const Guard& guard : guards) step.push_back(trigger(guard, dialect));
  return step;
}

SchemaStep step_of(std::span<const std::string_view> made, std::span<const Guard> kept, SqlDialect dialect) {
  SchemaStep step;
  for (const std::string_view table : made) step.push_back(in_dialect(table, dialect));
  for (const Guard& guard : kept) step.push_back(trigger(guard, dialect));
  return step;
}

}  // namespace

std::vector<SchemaStep> schema_steps(SqlDialect dialect) {
  return {first_step(dialect), step_of(evaluation_tables, evaluation_guards, dialect),
          step_of(counted_order_tables, counted_order_guards, dialect),
          step_of(left_out_tables, left_out_guards, dialect)};
}

Status bring_up_to_date(Door& door, const IdentityKey& owner, std::span<const SchemaStep> steps) {
  return door.write([&](Connection& database) -> Status {
    SOTTO_CHECK(database.run(in_dialect(facts_table, database.dialect())));
    SOTTO_CHECK(
        database.run("INSERT INTO sotto_store(single, steps, owner) VALUES(1, 0, $1) ON CONFLICT DO NOTHING",
                     {sql_bytes(owner)}));
    SOTTO_TRY(const SqlAnswer facts, database.run("SELECT steps, owner FROM sotto_store"));
    SOTTO_TRY(const std::uint64_t taken, facts.rows.at(0).number(0));
    SOTTO_TRY(const Digest belongs_to, facts.rows.at(0).digest(1));
    if (belongs_to != owner)
      return bad_input(
          "the store {} belongs to the coordinator key {}, and this one is {}: give the key of this store, "
          "or another store",
          database.where(), to_hex(belongs_to), to_hex(owner));
    if (taken > steps.size())
      return bad_input(
          "the store {} is of version {}, and this sotto knows up to {}: install the sotto that wrote it",
          database.where(), taken, steps.size());
    if (taken == steps.size()) return {};
    for (const SchemaStep& step : steps.subspan(taken))
      for (const std::string& statement : step) SOTTO_CHECK(database.run(statement));
    SOTTO_CHECK(database.run("UPDATE sotto_store SET steps = $1", {static_cast<std::int64_t>(steps.size())}));
    return {};
  });
}

Status check_up_to_date(Door& door, std::span<const SchemaStep> steps) {
  const auto facts = door.ask("SELECT steps FROM sotto_store");
  if (!facts) return bad_input("this is no coordinator's store ({})", facts.error().message);
  if (facts->rows.empty()) return bad_input("this is no coordinator's store: it has no version");
  SOTTO_TRY(const std::uint64_t taken, facts->rows[0].number(0));
  if (taken != steps.size())
    return bad_input(
        "the store is of version {}, and this sotto reads version {}: look with the sotto that wrote it",
        taken, steps.size());
  return {};
}

}  // namespace sotto::coordinator
