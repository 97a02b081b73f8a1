#include "coordinator/store/sqlite_connection.h"

#include <fcntl.h>
#include <sqlite3.h>

#include <unordered_map>

#include "base/descriptor.h"
#include "base/temporary_sibling.h"

namespace sotto::coordinator {

namespace {

constexpr int wait_for_writer_ms = 10'000;
constexpr std::int64_t application = 0x536F7474;  // "Sott", in the header of the file

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

class SqliteConnection final : public Connection {
 public:
  SqliteConnection(sqlite3* database, const std::filesystem::path& file) : file_(file), database_(database) {}
  SqlDialect dialect() const override { return SqlDialect::sqlite; }
  std::string where() const override { return file_.string(); }

  Status prepare_session();

  using Connection::run;
  Result<SqlAnswer> run(std::string_view sql, std::span<const SqlParameter> parameters) override;
  Status begin_write() override { return as_status(run("BEGIN IMMEDIATE")); }
  Status commit() override {
    auto status = as_status(run("COMMIT"));
    if (!status) roll_back();
    return status;
  }
  void roll_back() noexcept override {
    // Some errors have rolled back by themselves.
    if (sqlite3_get_autocommit(database_.get()) == 0)
      sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }

  tl::unexpected<Error> failure() const;

 private:
  static Status as_status(const Result<SqlAnswer>& answer) {
    if (!answer) return tl::unexpected(answer.error());
    return {};
  }
  Result<sqlite3_stmt*> prepared(std::string_view sql);
  Status bind(sqlite3_stmt* statement, std::span<const SqlParameter> parameters);

  std::filesystem::path file_;
  std::unique_ptr<sqlite3, CloseDatabase> database_;
  std::unordered_map<std::string, Statement> statements_;  // before the database they go
};

tl::unexpected<Error> SqliteConnection::failure() const {
  const char* why = sqlite3_errmsg(database_.get());
  switch (sqlite3_errcode(database_.get())) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return bad_input("the store {} is damaged ({}): restore a backup", file_.string(), why);
    case SQLITE_FULL:
      return failed("no room to write the store {} ({}): nothing has changed; free space on its disk",
                    file_.string(), why);
    case SQLITE_BUSY:
      return failed("another process has been writing to the store {} for {} s: end it or wait",
                    file_.string(), wait_for_writer_ms / 1000);
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return bad_input("cannot write the store {} ({}): give this user the right to its folder and files",
                       file_.string(), why);
    case SQLITE_CONSTRAINT:
      return bad_input("the store {} refuses: {}", file_.string(), why);
    default:
      return failed("the store {} failed: {} ({})", file_.string(), why,
                    sqlite3_extended_errcode(database_.get()));
  }
}

Result<sqlite3_stmt*> SqliteConnection::prepared(std::string_view sql) {
  std::string text(sql);
  if (const auto found = statements_.find(text); found != statements_.end()) return found->second.get();
  sqlite3_stmt* made = nullptr;
  if (sqlite3_prepare_v3(database_.get(), text.c_str(), static_cast<int>(text.size()) + 1,
                         SQLITE_PREPARE_PERSISTENT, &made, nullptr) != SQLITE_OK)
    return failure();
  return statements_.emplace(std::move(text), Statement(made)).first->second.get();
}

Status SqliteConnection::bind(sqlite3_stmt* statement, std::span<const SqlParameter> parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    // $1 is a name to SQLite.
    const int at = sqlite3_bind_parameter_index(statement, fmt::format("${}", i + 1).c_str());
    int code = SQLITE_OK;
    if (const auto* number = std::get_if<std::int64_t>(&parameters[i]))
      code = sqlite3_bind_int64(statement, at, *number);
    else if (const auto* text = std::get_if<std::string_view>(&parameters[i]))
      code = sqlite3_bind_text64(statement, at, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
    else if (const auto* bytes = std::get_if<SqlBytes>(&parameters[i]))
      // Without a pointer it would be NULL.
      code = sqlite3_bind_blob64(statement, at, bytes->bytes.empty() ? "" : bytes->bytes.data(),
                                 bytes->bytes.size(), SQLITE_STATIC);
    else
      code = sqlite3_bind_null(statement, at);
    if (code != SQLITE_OK) return failure();
  }
  return {};
}

SqlRow::Value value_at(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement, column);
    case SQLITE_TEXT:
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
      return bytes == nullptr ? std::string() : std::string(bytes, size);
    }
    default:
      return {};
  }
}

Result<SqlAnswer> SqliteConnection::run(std::string_view sql, std::span<const SqlParameter> parameters) {
  SOTTO_TRY(sqlite3_stmt * statement, prepared(sql));
  // Views of the parameters must not outlive the call, nor a read transaction the answer.
  const auto reset = [](sqlite3_stmt* used) {
    sqlite3_reset(used);
    sqlite3_clear_bindings(used);
  };
  const std::unique_ptr<sqlite3_stmt, decltype(reset)> guard(statement, reset);
  SOTTO_CHECK(bind(statement, parameters));
  SqlAnswer answer;
  int code = 0;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    std::vector<SqlRow::Value> values;
    values.reserve(static_cast<std::size_t>(sqlite3_column_count(statement)));
    for (int column = 0; column < sqlite3_column_count(statement); ++column)
      values.push_back(value_at(statement, column));
    answer.rows.emplace_back(std::move(values));
  }
  if (code != SQLITE_DONE) return failure();
  answer.changed = static_cast<std::uint64_t>(sqlite3_changes64(database_.get()));
  return answer;
}

Status SqliteConnection::prepare_session() {
  sqlite3_extended_result_codes(database_.get(), 0);
  sqlite3_busy_timeout(database_.get(), wait_for_writer_ms);
  // A file from elsewhere must not bring functions or a schema that does other things than ours.
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  for (const char* pragma :
       {"PRAGMA cell_size_check = ON", "PRAGMA foreign_keys = ON", "PRAGMA synchronous = FULL"})
    SOTTO_CHECK(run(pragma));
  return {};
}

Result<std::unique_ptr<SqliteConnection>> opened_with(const std::filesystem::path& file, int access) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &opened, access | SQLITE_OPEN_NOMUTEX, nullptr);
  if (opened == nullptr) return failed("SQLite has no memory to open {}", file.string());
  auto connection = std::make_unique<SqliteConnection>(opened, file);
  if (code != SQLITE_OK) return connection->failure();
  SOTTO_CHECK(connection->prepare_session());
  return connection;
}

}  // namespace

Result<std::unique_ptr<Connection>> connect_sqlite_to_read(const std::filesystem::path& file) {
  SOTTO_TRY(auto connection, opened_with(file, SQLITE_OPEN_READONLY));
  return connection;
}

Result<std::unique_ptr<Connection>> connect_sqlite(const std::filesystem::path& file) {
  // For nobody else: SQLite gives its log the rights of the file. One that is there is not opened here:
  // closing any descriptor of a file gives up all of the process's locks on it, those of other connections
  // too, and then whichever process closes the store next takes the log of its writes away.
  if (std::error_code missing; !std::filesystem::exists(file, missing)) {
    const auto made = Descriptor::open(file, O_RDWR | O_CREAT | O_EXCL, "make", 0600);
    if (!made && !std::filesystem::exists(file, missing)) return tl::unexpected(made.error());
    sync_parent(file);
  }
  SOTTO_TRY(auto connection, opened_with(file, SQLITE_OPEN_READWRITE));
  SOTTO_TRY(const SqlAnswer journal, connection->run("PRAGMA journal_mode = WAL"));
  SOTTO_TRY(const std::string mode, journal.rows.at(0).bytes(0));
  if (mode != "wal")
    return bad_input("the file system of {} cannot share memory, which the store needs: choose a local disk",
                     file.string());
  return connection;
}

Status check_sqlite(Connection& database) {
  SOTTO_TRY(const SqlAnswer found, database.run("PRAGMA quick_check(1)"));
  SOTTO_TRY(const std::string verdict, found.rows.at(0).bytes(0));
  if (verdict != "ok")
    return bad_input("the store {} is damaged ({}): restore a backup", database.where(), verdict);
  SOTTO_TRY(const SqlAnswer orphans, database.run("PRAGMA foreign_key_check"));
  if (!orphans.rows.empty())
    return bad_input("the store {} is damaged (rows that others name are missing): restore a backup",
                     database.where());
  SOTTO_TRY(const SqlAnswer kind, database.run("PRAGMA application_id"));
  SOTTO_TRY(const std::int64_t written_by, kind.rows.at(0).integer(0));
  if (written_by == application) return {};
  SOTTO_TRY(const SqlAnswer tables, database.run("SELECT COUNT(*) FROM sqlite_schema"));
  SOTTO_TRY(const std::uint64_t count, tables.rows.at(0).number(0));
  if (count != 0 || written_by != 0)
    return bad_input("{} is a database of another program: choose another folder", database.where());
  SOTTO_CHECK(database.run(fmt::format("PRAGMA application_id = {}", application)));
  return {};
}

}  // namespace sotto::coordinator
