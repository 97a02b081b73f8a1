#pragma once
// One connection to a database, and a door that lets one thread at a time through it. The SQL is the same for
// both databases, with parameters $1, $2, …; what differs is in SqlDialect and in schema.cpp.
//
// A Connection is not thread-safe: it is used through its Door.

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "coordinator/store/records.h"

namespace sotto::coordinator {

enum class SqlDialect : std::uint8_t { sqlite, postgresql };

struct SqlBytes {
  std::string_view bytes;
};
// What the statement is given: nothing, a number, a text, bytes. Views last for the call.
using SqlParameter = std::variant<std::monostate, std::int64_t, std::string_view, SqlBytes>;

inline SqlBytes sql_bytes(const Digest& hash) {
  return {{reinterpret_cast<const char*>(hash.data()), hash.size()}};
}
inline SqlParameter sql_bytes_or_null(const std::optional<Digest>& hash) {
  return hash ? SqlParameter(sql_bytes(*hash)) : SqlParameter();
}
inline std::int64_t sql_time(UtcTime time) { return time.time_since_epoch().count(); }
// What the databases can hold. `what` is named in the refusal.
Result<std::int64_t> sql_number(std::uint64_t number, std::string_view what);

// One row of an answer. A value of another type or length than asked for means that the store is damaged.
class SqlRow {
 public:
  using Value = std::variant<std::monostate, std::int64_t, std::string>;
  explicit SqlRow(std::vector<Value> values) : values_(std::move(values)) {}

  bool is_null(std::size_t column) const;
  Result<std::int64_t> integer(std::size_t column) const;
  Result<std::uint64_t> number(std::size_t column) const;  // not negative
  Result<std::string> bytes(std::size_t column) const;     // of a text too
  Result<Digest> digest(std::size_t column) const;
  Result<std::optional<Digest>> optional_digest(std::size_t column) const;
  Result<UtcTime> time(std::size_t column) const;
  // By its name.
  template <class Choice, std::size_t N>
  Result<Choice> choice(std::size_t column, const std::array<Choice, N>& choices) const {
    SOTTO_TRY(const std::string text, bytes(column));
    for (const Choice each : choices)
      if (name(each) == text) return each;
    return failed("'{}' is no state: the store is damaged, restore a backup", text);
  }

 private:
  std::vector<Value> values_;
};

struct SqlAnswer {
  std::vector<SqlRow> rows;
  std::uint64_t changed = 0;
};

class Connection {
 public:
  virtual ~Connection() = default;
  virtual SqlDialect dialect() const = 0;
  virtual std::string where() const = 0;  // for messages
  // One statement, prepared at its first use. Outside of a transaction it is one of its own.
  virtual Result<SqlAnswer> run(std::string_view sql, std::span<const SqlParameter> parameters) = 0;
  Result<SqlAnswer> run(std::string_view sql, std::initializer_list<SqlParameter> parameters = {}) {
    return run(sql, std::span(parameters.begin(), parameters.size()));
  }
  // One writer at a time in the whole database.
  virtual Status begin_write() = 0;
  virtual Status commit() = 0;  // a failed one is rolled back
  virtual void roll_back() noexcept = 0;
};

class Door {
 public:
  explicit Door(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

  Result<SqlAnswer> ask(std::string_view sql, std::initializer_list<SqlParameter> parameters = {}) {
    const std::lock_guard lock(mutex_);
    return connection_->run(sql, parameters);
  }
  Result<SqlAnswer> ask(std::string_view sql, std::span<const SqlParameter> parameters) {
    const std::lock_guard lock(mutex_);
    return connection_->run(sql, parameters);
  }
  // All that `work` writes, or nothing when it returns an error or throws.
  template <class Work>
  auto write(Work work) -> decltype(work(std::declval<Connection&>())) {
    const std::lock_guard lock(mutex_);
    SOTTO_CHECK(connection_->begin_write());
    RollBack unless_committed{connection_.get()};
    auto result = work(*connection_);
    if (!result) return result;
    unless_committed.connection = nullptr;
    SOTTO_CHECK(connection_->commit());
    return result;
  }

 private:
  struct RollBack {
    Connection* connection;
    ~RollBack() {
      if (connection != nullptr) connection->roll_back();
    }
  };
  std::mutex mutex_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace sotto::coordinator
