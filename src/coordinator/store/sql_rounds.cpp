#include <array>

#include "base/byte_codec.h"
#include "base/chain_hash.h"
#include "coordinator/store/sql_store.h"

namespace sotto::coordinator {

namespace {

constexpr std::array order_states{OrderState::open, OrderState::unmasking, OrderState::summed,
                                  OrderState::folded, OrderState::abandoned};
constexpr std::string_view order_columns = "round, number, campaign, document, state, why, evaluates";

std::string_view table_of(const StoredOrder& order) {
  return order.evaluates ? "evaluation_orders" : "orders";
}

Result<StoredOrder> order_of(const SqlRow& row) {
  StoredOrder order;
  SOTTO_TRY(order.round, row.digest(0));
  SOTTO_TRY(order.number, row.number(1));
  SOTTO_TRY(order.campaign, row.digest(2));
  SOTTO_TRY(order.document, row.bytes(3));
  SOTTO_TRY(order.state, row.choice(4, order_states));
  SOTTO_TRY(order.why, row.bytes(5));
  SOTTO_TRY(const std::uint64_t evaluates, row.number(6));
  order.evaluates = evaluates == 1;
  return order;
}

tl::unexpected<Error> wrong_state(const StoredOrder& order, std::string_view needed) {
  return bad_input("{} {} ({}) is {}{}{}: {}", order.evaluates ? "the measurement of version" : "round",
                   order.number, to_hex(order.round), name(order.state), order.why.empty() ? "" : " because ",
                   order.why, needed);
}

std::string bytes_of(const std::vector<std::uint32_t>& entries) {
  ByteWriter writer;
  for (const std::uint32_t entry : entries) writer.number(entry);
  return std::move(writer).take();
}

std::vector<std::uint32_t> entries_of(std::string_view bytes) {
  ByteReader reader(bytes);
  std::vector<std::uint32_t> entries(bytes.size() / sizeof(std::uint32_t));
  for (std::uint32_t& entry : entries) entry = reader.number<std::uint32_t>();
  return entries;
}

Result<GroupSum> sum_of(const SqlRow& row) {
  GroupSum sum;
  SOTTO_TRY(const std::uint64_t group, row.number(0));
  sum.group = static_cast<std::uint32_t>(group);
  SOTTO_TRY(sum.arrived, row.number(1));
  SOTTO_TRY(const std::string entries, row.bytes(2));
  sum.entries = entries_of(entries);
  return sum;
}

}  // namespace

Result<StoredOrder> find_order(Connection& database, const Digest& round) {
  SOTTO_TRY(const SqlAnswer found,
            database.run(fmt::format("SELECT {} FROM every_order WHERE round = $1", order_columns),
                         {sql_bytes(round)}));
  if (found.rows.empty()) return bad_input("there is no order of the round {}", to_hex(round));
  return order_of(found.rows[0]);
}

Status end_order(Connection& database, const StoredOrder& order, OrderState state, std::string_view why) {
  SOTTO_CHECK(
      database.run(fmt::format("UPDATE {} SET state = $2, why = $3 WHERE round = $1", table_of(order)),
                   {sql_bytes(order.round), name(state), why}));
  SOTTO_CHECK(database.run("DELETE FROM group_sums WHERE round = $1", {sql_bytes(order.round)}));
  return {};
}

Status SqlStore::open_order(const Fence& fence, const StoredOrder& order) {
  SOTTO_TRY(const std::int64_t number, sql_number(order.number, "the number of the round"));
  return writer_.write([&](Connection& database) -> Status {
    SOTTO_CHECK(check_fence(database, fence));
    SOTTO_TRY(const SqlAnswer campaign,
              database.run("SELECT state FROM campaigns WHERE hash = $1", {sql_bytes(order.campaign)}));
    if (campaign.rows.empty()) return bad_input("there is no campaign {}", to_hex(order.campaign));
    SOTTO_TRY(const SqlAnswer found,
              database.run(fmt::format("SELECT {} FROM every_order WHERE round = $1 OR (campaign = $2 AND "
                                       "number = $3 AND {})",
                                       order_columns,
                                       order.evaluates ? "evaluates = 1 AND (charged = 1 OR state = 'open')"
                                                       : "evaluates = 0 AND state <> 'abandoned'"),
                           {sql_bytes(order.round), sql_bytes(order.campaign), number}));
    for (const SqlRow& row : found.rows) {
      SOTTO_TRY(const StoredOrder there, order_of(row));
      if (there.round == order.round && there.document == order.document) {
        if (there.state == OrderState::open) return {};
        return wrong_state(there, "an order is opened once");
      }
      return conflict(fmt::format("{} {} of the campaign {} is ordered already, as {}{}",
                                  there.evaluates ? "the measurement of version" : "round", there.number,
                                  to_hex(there.campaign), to_hex(there.round),
                                  there.evaluates ? ": devices are not charged for it twice" : ""));
    }
    if (order.evaluates) SOTTO_CHECK(check_unmeasured(database, order.campaign, order.number));
    SOTTO_TRY(const std::string state, campaign.rows[0].bytes(0));
    if (state != name(CampaignState::open))
      return conflict(
          fmt::format("the campaign {} is {}: no round is ordered", to_hex(order.campaign), state));
    SOTTO_CHECK(
        database.run(fmt::format("INSERT INTO {}(place, round, number, campaign, document, state, why, "
                                 "charged) SELECT COALESCE(MAX(place) + 1, 0), $1, $2, $3, $4, $5, '', 0 "
                                 "FROM every_order",
                                 table_of(order)),
                     {sql_bytes(order.round), number, sql_bytes(order.campaign), SqlBytes{order.document},
                      name(OrderState::open)}));
    return {};
  });
}

Status SqlStore::begin_unmasking(const Fence& fence, const Digest& round) {
  return writer_.write([&](Connection& database) -> Status {
    SOTTO_CHECK(check_fence(database, fence));
    SOTTO_TRY(const StoredOrder order, find_order(database, round));
    if (order.state == OrderState::unmasking) return {};
    if (order.state != OrderState::open) return wrong_state(order, "unmasking begins in an open round");
    SOTTO_CHECK(
        database.run(fmt::format("UPDATE {} SET state = $2, charged = 1 WHERE round = $1", table_of(order)),
                     {sql_bytes(round), name(OrderState::unmasking)}));
    return {};
  });
}

Status SqlStore::keep_sum(const Fence& fence, const Digest& round, const GroupSum& sum) {
  SOTTO_TRY(const std::int64_t arrived, sql_number(sum.arrived, "the number of devices"));
  const std::string entries = bytes_of(sum.entries);
  return writer_.write([&](Connection& database) -> Status {
    SOTTO_CHECK(check_fence(database, fence));
    SOTTO_TRY(const StoredOrder order, find_order(database, round));
    if (order.evaluates) return wrong_state(order, "no sum of it is kept, only what keep_evaluation says");
    const std::int64_t group = sum.group;
    SOTTO_TRY(
        const SqlAnswer found,
        database.run(
            "SELECT group_index, arrived, entries FROM group_sums WHERE round = $1 AND group_index = $2",
            {sql_bytes(round), group}));
    if (!found.rows.empty()) {
      SOTTO_TRY(const GroupSum there, sum_of(found.rows[0]));
      if (there == sum) return {};
      return conflict(
          fmt::format("group {} of round {} has another sum already, which stands", sum.group, order.number));
    }
    if (order.state != OrderState::unmasking)
      return wrong_state(order, "sums are kept from begin_unmasking until they are sealed");
    SOTTO_CHECK(
        database.run("INSERT INTO group_sums(round, group_index, arrived, entries) VALUES($1, $2, $3, $4)",
                     {sql_bytes(round), group, arrived, SqlBytes{entries}}));
    return {};
  });
}

Status SqlStore::leave_out(const Fence& fence, const LeftOut& spoiler) {
  return writer_.write([&](Connection& database) -> Status {
    SOTTO_CHECK(check_fence(database, fence));
    SOTTO_TRY(const StoredOrder order, find_order(database, spoiler.round));
    SOTTO_CHECK(database.run(
        "INSERT INTO left_out(campaign, device, round) VALUES($1, $2, $3) ON CONFLICT DO NOTHING",
        {sql_bytes(order.campaign), sql_bytes(spoiler.device), sql_bytes(spoiler.round)}));
    return {};
  });
}

Result<std::vector<LeftOut>> SqlStore::left_out(const Digest& campaign) {
  SOTTO_TRY(const SqlAnswer found,
            reader_.ask("SELECT device, round FROM left_out WHERE campaign = $1 ORDER BY device",
                        {sql_bytes(campaign)}));
  std::vector<LeftOut> list;
  for (const SqlRow& row : found.rows) {
    LeftOut& one = list.emplace_back();
    SOTTO_TRY(one.device, row.digest(0));
    SOTTO_TRY(one.round, row.digest(1));
  }
  return list;
}

Status SqlStore::seal_sums(const Fence& fence, const Digest& round) {
  return writer_.write([&](Connection& database) -> Status {
    SOTTO_CHECK(check_fence(database, fence));
    SOTTO_TRY(const StoredOrder order, find_order(database, round));
    if (order.state == OrderState::summed) return {};
    if (order.state != OrderState::unmasking || order.evaluates)
      return wrong_state(order, "sums of a round are sealed after unmasking");
    SOTTO_TRY(const SqlAnswer counted,
              database.run("SELECT COUNT(*) FROM group_sums WHERE round = $1", {sql_bytes(round)}));
    SOTTO_TRY(const std::uint64_t sums, counted.rows.at(0).number(0));
    if (sums == 0) return wrong_state(order, "no group has a sum; abandon it");
    SOTTO_CHECK(database.run("UPDATE orders SET state = $2 WHERE round = $1",
                             {sql_bytes(round), name(OrderState::summed)}));
    return {};
  });
}

Status SqlStore::abandon_order(const Fence& fence, const Digest& round, std::string_view why) {
  SOTTO_CHECK(check_text("the reason", why, most_words_bytes));
  return writer_.write([&](Connection& database) -> Status {
    SOTTO_CHECK(check_fence(database, fence));
    SOTTO_TRY(const StoredOrder order, find_order(database, round));
    if (order.state == OrderState::abandoned) return {};
    if (order.state == OrderState::folded)
      return wrong_state(order, "its version is published; roll back instead");
    return end_order(database, order, OrderState::abandoned, why);
  });
}

Result<std::optional<StoredOrder>> SqlStore::order(const Digest& round) {
  SOTTO_TRY(const SqlAnswer found,
            reader_.ask(fmt::format("SELECT {} FROM every_order WHERE round = $1", order_columns),
                        {sql_bytes(round)}));
  if (found.rows.empty()) return std::optional<StoredOrder>();
  return order_of(found.rows[0]);
}

Result<std::vector<StoredOrder>> SqlStore::unfinished_orders() {
  SOTTO_TRY(const SqlAnswer found,
            reader_.ask(fmt::format(
                "SELECT {} FROM every_order WHERE state IN ('open', 'unmasking', 'summed') ORDER BY place",
                order_columns)));
  std::vector<StoredOrder> orders;
  for (const SqlRow& row : found.rows) {
    SOTTO_TRY(orders.emplace_back(), order_of(row));
  }
  return orders;
}

Result<std::vector<GroupSum>> SqlStore::sums_of(const Digest& round) {
  SOTTO_TRY(const SqlAnswer found,
            reader_.ask(
                "SELECT group_index, arrived, entries FROM group_sums WHERE round = $1 ORDER BY group_index",
                {sql_bytes(round)}));
  std::vector<GroupSum> sums;
  for (const SqlRow& row : found.rows) {
    SOTTO_TRY(sums.emplace_back(), sum_of(row));
  }
  return sums;
}

Result<OrderCounts> SqlStore::count_orders(const Digest& campaign) {
  // Of versions that were measured before their orders were written down there is only the result.
  SOTTO_TRY(const SqlAnswer found,
            reader_.ask("SELECT COUNT(*) FILTER (WHERE evaluates = 0 AND charged = 1), "
                        "COUNT(*) FILTER (WHERE evaluates = 1 AND charged = 1) + "
                        "(SELECT COUNT(*) FROM evaluations e WHERE e.campaign = $1 AND NOT EXISTS "
                        "(SELECT 1 FROM evaluation_orders o WHERE o.campaign = e.campaign AND o.number = "
                        "e.version AND o.charged = 1)), "
                        "COUNT(*) FILTER (WHERE evaluates = 0 AND state = 'abandoned') "
                        "FROM every_order WHERE campaign = $1",
                        {sql_bytes(campaign)}));
  OrderCounts counts;
  SOTTO_TRY(counts.trained, found.rows.at(0).number(0));
  SOTTO_TRY(counts.evaluated, found.rows.at(0).number(1));
  SOTTO_TRY(counts.abandoned, found.rows.at(0).number(2));
  return counts;
}

Result<std::uint64_t> SqlStore::next_round(const Digest& campaign) {
  SOTTO_TRY(
      const SqlAnswer found,
      reader_.ask(
          "SELECT COALESCE(MAX(number) + 1, 1) FROM orders WHERE campaign = $1 AND state <> 'abandoned'",
          {sql_bytes(campaign)}));
  return found.rows.at(0).number(0);
}

}  // namespace sotto::coordinator
