#include "coordinator/store/postgres_connection.h"

#include <bit>
#include <unordered_map>

#include "coordinator/store/libpq.h"

namespace sotto::coordinator {

namespace {

// Numbers of types, as PostgreSQL fixes them.
constexpr Oid type_bytes = 17, type_int8 = 20, type_int4 = 23, type_text = 25;
constexpr int binary = 1;
// Any number, the same for everybody who writes to a store.
constexpr std::string_view wait_for_turn = "SELECT 1 FROM pg_advisory_xact_lock(6014142801436521331)";
constexpr std::string_view session_settings[] = {
    "SET client_encoding TO 'UTF8'",
    "SET client_min_messages TO 'warning'",
    // Long enough for every transaction of a store, short enough that a dead node does not stop the others.
    "SET lock_timeout TO '10s'",
    "SET statement_timeout TO '60s'",
    "SET idle_in_transaction_session_timeout TO '30s'",
};

struct CloseConnection {
  void operator()(PGconn* connection) const { pq().PQfinish(connection); }
};
using Link = std::unique_ptr<PGconn, CloseConnection>;
struct ClearAnswer {
  void operator()(PGresult* answer) const { pq().PQclear(answer); }
};
using Answer = std::unique_ptr<PGresult, ClearAnswer>;

std::string first_line(std::string_view message) {
  return std::string(message.substr(0, message.find('\n')));
}

std::string big_endian(std::int64_t number) {
  std::string bytes(sizeof number, '\0');
  for (std::size_t i = 0; i < sizeof number; ++i)
    bytes[i] = static_cast<char>(static_cast<std::uint64_t>(number) >> (56 - 8 * i) & 0xff);
  return bytes;
}
std::int64_t from_big_endian(std::string_view bytes) {
  // The sign is that of the first byte.
  auto number = static_cast<std::uint64_t>(!bytes.empty() && (bytes[0] & 0x80) != 0 ? -1 : 0);
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return static_cast<std::int64_t>(number);
}

// What PQexecPrepared wants: arrays side by side. Lives as long as the parameters.
struct Arguments {
  explicit Arguments(std::span<const SqlParameter> parameters) {
    numbers.reserve(parameters.size());
    for (const SqlParameter& parameter : parameters) {
      if (const auto* number = std::get_if<std::int64_t>(&parameter))
        add(type_int8, numbers.emplace_back(big_endian(*number)));
      else if (const auto* text = std::get_if<std::string_view>(&parameter))
        add(type_text, *text);
      else if (const auto* bytes = std::get_if<SqlBytes>(&parameter))
        add(type_bytes, bytes->bytes);
      else
        add_nothing();
    }
  }
  int count() const { return static_cast<int>(values.size()); }

  std::vector<std::string> numbers;
  std::vector<Oid> types;
  std::vector<const char*> values;
  std::vector<int> lengths, formats;

 private:
  void add(Oid type, std::string_view bytes) {
    types.push_back(type);
    values.push_back(bytes.empty() ? "" : bytes.data());  // without a pointer it would be NULL
    lengths.push_back(static_cast<int>(bytes.size()));
    formats.push_back(binary);
  }
  void add_nothing() {
    types.push_back(0);
    values.push_back(nullptr);
    lengths.push_back(0);
    formats.push_back(binary);
  }
};

class PostgresConnection final : public Connection {
 public:
  PostgresConnection(std::string location, std::string shown)
      : location_(std::move(location)), shown_(std::move(shown)) {}
  SqlDialect dialect() const override { return SqlDialect::postgresql; }
  std::string where() const override { return shown_; }

  Status connect();
  using Connection::run;
  Result<SqlAnswer> run(std::string_view sql, std::span<const SqlParameter> parameters) override;
  Status begin_write() override;
  Status commit() override;
  void roll_back() noexcept override;

 private:
  bool is_lost() const { return pq().PQstatus(link_.get()) != CONNECTION_OK; }
  Result<SqlAnswer> run_once(std::string_view sql, std::span<const SqlParameter> parameters);
  Result<std::string> prepared(std::string_view sql, const Arguments& arguments);
  Result<SqlAnswer> read(const PGresult* answer) const;
  tl::unexpected<Error> failure(const PGresult* answer) const;

  std::string location_, shown_;
  Link link_;
  std::unordered_map<std::string, std::string> statements_;  // their names, by the SQL
  bool writing_ = false;
};

tl::unexpected<Error> PostgresConnection::failure(const PGresult* answer) const {
  if (is_lost())
    return failed("lost the connection to {} ({}): look whether the server runs, and ask again", shown_,
                  first_line(pq().PQerrorMessage(link_.get())));
  const char* code = answer == nullptr ? nullptr : pq().PQresultErrorField(answer, PG_DIAG_SQLSTATE);
  const std::string_view state = code == nullptr ? "" : code;
  const char* primary =
      answer == nullptr ? nullptr : pq().PQresultErrorField(answer, PG_DIAG_MESSAGE_PRIMARY);
  const std::string why = primary != nullptr ? primary : first_line(pq().PQerrorMessage(link_.get()));
  if (state == "53100")
    return failed("{} has no room left ({}): nothing has changed; free space on its disk", shown_, why);
  if (state == "55P03" || state == "57014")
    return failed("{} was busy for too long ({}): nothing has changed; ask again", shown_, why);
  if (state == "42501" || state == "25006")
    return bad_input("{} does not let this user write ({}): grant it the right to create and change tables",
                     shown_, why);
  if (state.starts_with("23") || state == "P0001") return bad_input("the store {} refuses: {}", shown_, why);
  return failed("the store {} failed: {} ({})", shown_, why, state);
}

Status PostgresConnection::connect() {
  statements_.clear();
  writing_ = false;
  // What the location says itself counts more than what stands before it here.
  const char* names[] = {
      "fallback_application_name", "connect_timeout",  "keepalives_idle", "keepalives_interval",
      "keepalives_count",          "tcp_user_timeout", "dbname",          nullptr};
  const char* values[] = {"sotto", "5", "10", "5", "3", "20000", location_.c_str(), nullptr};
  link_.reset(pq().PQconnectdbParams(names, values, 1));
  if (link_ == nullptr) return failed("no memory to connect to {}", shown_);
  if (is_lost())
    return failed("cannot connect to {}: {}; look whether the server runs and the location is right", shown_,
                  first_line(pq().PQerrorMessage(link_.get())));
  pq().PQsetNoticeProcessor(
      link_.get(), [](void*, const char*) {}, nullptr);
  for (const std::string_view setting : session_settings) SOTTO_CHECK(run_once(setting, {}));
  // A server that only pretends to write keeps no promise.
  SOTTO_TRY(const SqlAnswer durable,
            run_once("SELECT current_setting('fsync'), current_setting('synchronous_commit')", {}));
  SOTTO_TRY(const std::string synced, durable.rows.at(0).bytes(0));
  SOTTO_TRY(const std::string waits, durable.rows.at(0).bytes(1));
  if (synced != "on")
    return bad_input("{} runs with fsync off and would lose rounds in a crash: turn it on", shown_);
  if (waits == "off") SOTTO_CHECK(run_once("SET synchronous_commit TO 'on'", {}));
  return {};
}

Result<std::string> PostgresConnection::prepared(std::string_view sql, const Arguments& arguments) {
  std::string text(sql);
  if (const auto found = statements_.find(text); found != statements_.end()) return found->second;
  std::string name = fmt::format("s{}", statements_.size());
  const Answer answer(
      pq().PQprepare(link_.get(), name.c_str(), text.c_str(), arguments.count(), arguments.types.data()));
  if (pq().PQresultStatus(answer.get()) != PGRES_COMMAND_OK) return failure(answer.get());
  return statements_.emplace(std::move(text), std::move(name)).first->second;
}

Result<SqlAnswer> PostgresConnection::read(const PGresult* answer) const {
  SqlAnswer read;
  for (int row = 0; row < pq().PQntuples(answer); ++row) {
    std::vector<SqlRow::Value> values;
    for (int column = 0; column < pq().PQnfields(answer); ++column) {
      if (pq().PQgetisnull(answer, row, column) != 0) {
        values.emplace_back();
        continue;
      }
      const std::string_view bytes(pq().PQgetvalue(answer, row, column),
                                   static_cast<std::size_t>(pq().PQgetlength(answer, row, column)));
      switch (pq().PQftype(answer, column)) {
        case type_int4:
        case type_int8:
          values.emplace_back(from_big_endian(bytes));
          break;
        case type_bytes:
        case type_text:
          values.emplace_back(std::string(bytes));
          break;
        default:
          return failed("{} answers with a type {} that a store does not have", shown_,
                        pq().PQftype(answer, column));
      }
    }
    read.rows.emplace_back(std::move(values));
  }
  const std::string_view changed = pq().PQcmdTuples(const_cast<PGresult*>(answer));
  for (const char digit : changed) read.changed = read.changed * 10 + static_cast<std::uint64_t>(digit - '0');
  return read;
}

Result<SqlAnswer> PostgresConnection::run_once(std::string_view sql,
                                               std::span<const SqlParameter> parameters) {
  const Arguments arguments(parameters);
  SOTTO_TRY(const std::string name, prepared(sql, arguments));
  const Answer answer(pq().PQexecPrepared(link_.get(), name.c_str(), arguments.count(),
                                          arguments.values.data(), arguments.lengths.data(),
                                          arguments.formats.data(), binary));
  const ExecStatusType status = pq().PQresultStatus(answer.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return failure(answer.get());
  return read(answer.get());
}

Result<SqlAnswer> PostgresConnection::run(std::string_view sql, std::span<const SqlParameter> parameters) {
  if (writing_) return run_once(sql, parameters);
  // A question may be asked again; within a transaction all that went before would be missing.
  if (!is_lost()) {
    auto answer = run_once(sql, parameters);
    if (answer || !is_lost()) return answer;
  }
  SOTTO_CHECK(connect());
  return run_once(sql, parameters);
}

Status PostgresConnection::begin_write() {
  SOTTO_CHECK(run("BEGIN"));
  writing_ = true;
  if (auto turn = run_once(wait_for_turn, {}); !turn) {
    roll_back();
    return tl::unexpected(std::move(turn).error());
  }
  return {};
}

Status PostgresConnection::commit() {
  auto answer = run_once("COMMIT", {});
  const bool lost = is_lost();
  roll_back();
  if (answer) return {};
  if (!lost) return tl::unexpected(std::move(answer).error());
  return failed("lost the connection to {} while it committed: whether it did is not known, ask again",
                shown_);
}

void PostgresConnection::roll_back() noexcept {
  writing_ = false;
  if (link_ == nullptr || is_lost() || pq().PQtransactionStatus(link_.get()) == PQTRANS_IDLE) return;
  const Answer answer(pq().PQexec(link_.get(), "ROLLBACK"));
  // Whoever comes next must not find itself in an old transaction.
  if (pq().PQresultStatus(answer.get()) != PGRES_COMMAND_OK) link_.reset();
}

}  // namespace

bool is_postgres(std::string_view location) {
  return location.starts_with("postgresql://") || location.starts_with("postgres://");
}

Result<std::string> without_secrets(const std::string& location) {
  SOTTO_CHECK(load_libpq());
  char* message = nullptr;
  struct FreeOptions {
    void operator()(PQconninfoOption* options) const { pq().PQconninfoFree(options); }
  };
  const std::unique_ptr<PQconninfoOption, FreeOptions> options(
      pq().PQconninfoParse(location.c_str(), &message));
  if (options == nullptr) {
    // The message may repeat what was given, with a password in it.
    pq().PQfreemem(message);
    return bad_input("the location of the store is not of the form postgresql://user@host:port/database");
  }
  std::string host, port, database;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    const std::string_view keyword = option->keyword;
    if (option->val == nullptr) continue;
    if (keyword == "host") host = option->val;
    if (keyword == "port") port = option->val;
    if (keyword == "dbname") database = option->val;
  }
  return fmt::format("postgresql://{}{}{}/{}", host, port.empty() ? "" : ":", port, database);
}

Result<std::unique_ptr<Connection>> connect_postgres(const std::string& location) {
  SOTTO_TRY(std::string shown, without_secrets(location));
  auto connection = std::make_unique<PostgresConnection>(location, std::move(shown));
  SOTTO_CHECK(connection->connect());
  return connection;
}

}  // namespace sotto::coordinator
