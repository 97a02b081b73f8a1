// Everything a device keeps about its person, for that person.

#include <nlohmann/json.hpp>

#include "base/chain_hash.h"
#include "device/sdk/device_json.h"
#include "device/sdk/device_state.h"
#include "privacy/ledger/ledger_statement.h"

namespace sotto::device {

namespace {

using nlohmann::json;

json to_object(const StoredClick& click) {
  return {{"item", click.item}, {"time", privacy::to_text(click.time)}, {"categories", click.labels}};
}

json to_object(const StoredImpression& page) {
  json shown = json::array();
  for (std::size_t i = 0; i < page.shown.size(); ++i)
    shown.push_back({{"item", page.shown[i]}, {"clicked", page.clicked[i] == 1}});
  return {{"time", privacy::to_text(page.time)}, {"clicked_before", page.history}, {"shown", shown}};
}

json to_object(const FieldValue& value) { return {{"feature", value.field}, {"value", value.value}}; }

template <class List>
json to_list(const List& values);

json to_object(const StoredRow& row) {
  return {{"item", row.item},
          {"time", privacy::to_text(row.time)},
          {"rating", row.rating ? json(*row.rating) : json(nullptr)},
          {"situation", to_list(row.situation)}};
}

json to_object(const LabelChange& change) {
  return {{"item", change.item},
          {"before", change.before},
          {"after", change.after},
          {"time", privacy::to_text(change.time)}};
}

template <class List>
json to_list(const List& values) {
  json list = json::array();
  for (const auto& value : values) list.push_back(to_object(value));
  return list;
}

}  // namespace

Result<std::string> Device::export_all() {
  const State& state = *state_;
  SOTTO_TRY(const auto statement, state.ledger.statement(state.now()));
  const json all = {
      {"consent", state.consent ? to_json(*state.consent) : json(nullptr)},
      {"enrolled_with", state.operator_keys ? json(to_hex(state.operator_keys->current())) : json(nullptr)},
      {"known_as", state.identity ? json(to_hex(state.identity->public_key())) : json(nullptr)},
      {"pack", pack_version()},
      {"clicks", to_list(state.history.clicks())},
      {"label_changes", to_list(state.history.label_changes())},
      {"pages", to_list(state.pages.impressions())},
      {"profile", to_list(state.rows.stored().profile)},
      {"rows", to_list(state.rows.stored().rows)},
      {"ledger", json::parse(privacy::to_json(statement))}};
  return to_line(all);
}

}  // namespace sotto::device
