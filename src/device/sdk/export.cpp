// Everything a device keeps about its person, for that person.

#include <nlohmann/json.hpp>

#include "base/chain_hash.h"
#include "base/settings.h"
#include "device/sdk/device_json.h"
#include "device/sdk/device_state.h"
#include "privacy/ledger/answer_cache.h"
#include "privacy/ledger/ledger_statement.h"

namespace sotto::device {

namespace {

using nlohmann::json;

constexpr std::uint64_t most_answers_bytes =
    privacy::AnswerCache::max_kinds * (privacy::AnswerCache::max_answer_bytes + 1024);

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

// What a server was told, in the form that it was told.
struct QuestionToObject {
  json operator()(const privacy::BasisWeights& weights) const { return {{"weights", weights}}; }
  json operator()(const privacy::PrototypeNumbers& numbers) const { return {{"prototypes", numbers}}; }
  json operator()(const privacy::PopularQuery&) const { return {{"popular", true}}; }
  json operator()(const privacy::MechanismQuery& own) const {
    return {{"mechanism", own.mechanism}, {"bytes", to_hex(rounds::as_bytes(own.bytes))}};
  }
};

json to_object(const BlindAnswerKept& kept) {
  json items = json::array();
  for (const RankedItem& item : kept.items) items.push_back({{"item", item.item}, {"score", item.score}});
  return {{"valid_until", privacy::to_text(kept.valid_until)}, {"items", items}};
}

json to_object(const rounds::LogLeaf& leaf) {
  return {{"kind", rounds::name(leaf.kind)}, {"hash", to_hex(leaf.hash)}};
}

json to_object(const LogWatch::Seen& log) {
  return {{"owner", to_hex(log.owner)},
          {"entries", log.head.size},
          {"root", to_hex(log.head.root)},
          {"witnesses", log.witnesses},
          {"witnesses_needed", log.witnesses_needed},
          {"proved", to_list(log.proved)}};
}

template <class List>
json to_list(const List& values) {
  json list = json::array();
  for (const auto& value : values) list.push_back(to_object(value));
  return list;
}

// The questions that were drawn and are used until their time is over, and which charge paid for each.
Result<json> questions_in(const fs::path& file) {
  json list = json::array();
  std::error_code unreadable;
  if (!fs::exists(file, unreadable)) return list;
  SOTTO_TRY(const std::string bytes, read_file(file, most_answers_bytes));
  SOTTO_TRY(const privacy::StoredAnswers stored, privacy::decode_answers(bytes));
  for (const auto& [kind, answer] : stored) {
    SOTTO_TRY(const DrawnQuery drawn, decode_drawn_query(answer.bytes));
    list.push_back({{"kind", kind},
                    {"drawn", privacy::to_text(answer.drawn)},
                    {"valid_until", privacy::to_text(answer.valid_until)},
                    {"record", answer.record},
                    {"model", drawn.model},
                    {"question", std::visit(QuestionToObject(), drawn.answer)}});
  }
  return list;
}

}  // namespace

Result<std::string> Device::export_all() {
  const State& state = *state_;
  SOTTO_TRY(const json questions, questions_in(state.path_of(file_names::answers)));
  SettingsTable settings;
  state_->settings.bind(settings);
  SOTTO_TRY(const auto statement, state.ledger.statement(state.now()));
  const auto log = state.log.seen();
  const json all = {
      {"consent", state.consent ? to_json(*state.consent) : json(nullptr)},
      {"enrolled_with", state.operator_keys ? json(to_hex(state.operator_keys->current())) : json(nullptr)},
      {"known_as", state.identity ? json(to_hex(state.identity->public_key())) : json(nullptr)},
      {"pack", pack_version()},
      {"served_log", log ? to_object(*log) : json(nullptr)},
      {"clicks", to_list(state.history.clicks())},
      {"label_changes", to_json(state.history.label_changes())},
      {"pages", to_list(state.pages.impressions())},
      {"profile", to_list(state.rows.stored().profile)},
      {"rows", to_list(state.rows.stored().rows)},
      {"questions", questions},
      {"last_blind_answer",
       state.blind.last_answer() ? to_object(*state.blind.last_answer()) : json(nullptr)},
      {"settings", settings.to_json()},
      {"ledger", json::parse(privacy::to_json(statement))}};
  return to_line(all);
}

}  // namespace sotto::device
