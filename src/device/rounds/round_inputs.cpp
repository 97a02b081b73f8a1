#include "device/rounds/round_inputs.h"

#include <algorithm>
#include <unordered_set>

namespace sotto::device {

namespace {

Eigen::Map<const local::Rows> map_of(const std::vector<float>& numbers, std::uint32_t columns) {
  const auto wide = static_cast<Eigen::Index>(columns);
  return {numbers.data(), wide == 0 ? 0 : static_cast<Eigen::Index>(numbers.size()) / wide, wide};
}

// The version's own, where it has some.
const rounds::NumberRows& vectors_of(const rounds::ModelVersion& version, const rounds::ItemTable& table) {
  return version.items.rows() > 0 ? version.items : table.vectors;
}

// The codes of what is said of a feature, each once. A value that is not among the feature's is "other" where
// there is that.
void add_codes(const rounds::NamedField& field, const std::vector<FieldValue>& said,
               std::vector<std::uint32_t>& codes) {
  const auto begin = static_cast<std::ptrdiff_t>(codes.size());
  const auto code_of = [&](std::string_view value) {
    return static_cast<std::size_t>(std::find(field.values.begin(), field.values.end(), value) -
                                    field.values.begin());
  };
  for (const FieldValue& one : said) {
    if (one.field != field.name) continue;
    std::size_t code = code_of(one.value);
    if (code == field.values.size()) code = code_of(rounds::other_value);
    if (code == field.values.size()) continue;
    if (std::find(codes.begin() + begin, codes.end(), code) == codes.end())
      codes.push_back(static_cast<std::uint32_t>(code));
  }
}

}  // namespace

FetchedModel::FetchedModel(const rounds::ModelVersion& version, rounds::ItemTable table)
    : table_(std::move(table)),
      numbers_(version.numbers.values()),
      items_(vectors_of(version, table_).values()),
      words_(table_.words.values()),
      inputs_{numbers_,
              map_of(items_, vectors_of(version, table_).columns),
              map_of(words_, table_.words.columns),
              {},
              {}} {
  for (std::size_t i = 0; i < table_.size(); ++i)
    rows_.emplace(table_.ids[i], static_cast<local::ItemRow>(i));
  for (const rounds::CodeRows& titles : table_.titles) inputs_.titles = {titles.codes, titles.offsets};
  for (const rounds::CodeRows& field : table_.fields)
    inputs_.item_fields.push_back({field.offsets, field.codes});
}

Result<std::unique_ptr<const FetchedModel>> FetchedModel::create(const rounds::ModelVersion& version,
                                                                 rounds::ItemTable table,
                                                                 const local::LocalTrainer& trainer,
                                                                 std::uint64_t round) {
  if (version.layout != trainer.layout().text())
    return bad_input("the model is laid out as '{}', and the campaign's is '{}'", version.layout,
                     trainer.layout().text());
  if (version.items.rows() > 0 && version.items.rows() != table.size())
    return bad_input("the version has vectors of {} items, and its table names {}", version.items.rows(),
                     table.size());
  std::unique_ptr<FetchedModel> made(new FetchedModel(version, std::move(table)));
  const std::size_t wanted = trainer.layout().size();
  // Scaled rows are whole: behind the last number there may be zeros.
  if (made->numbers_.size() < wanted || made->numbers_.size() >= wanted + version.numbers.columns)
    return bad_input("the version has {} numbers, and its layout {}", made->numbers_.size(), wanted);
  made->numbers_.resize(wanted);
  made->inputs_.parameters = made->numbers_;  // now that they are as many
  made->inputs_.round = round;
  return std::unique_ptr<const FetchedModel>(std::move(made));
}

std::optional<local::ItemRow> FetchedModel::row_of(std::string_view id) const {
  const auto found = rows_.find(id);
  if (found == rows_.end()) return std::nullopt;
  return found->second;
}

EventsOfReader::EventsOfReader(const FetchedModel& model, const local::EventUse& use,
                               const std::vector<StoredImpression>& impressions, const StoredRows& rows) {
  if (use.reads_rows)
    take(model, use, rows);
  else
    take(model, impressions);
}

void EventsOfReader::take(const FetchedModel& model, const std::vector<StoredImpression>& impressions) {
  for (const StoredImpression& one : impressions) {
    Seen seen;
    for (const std::string& id : one.history)
      if (const auto row = model.row_of(id)) seen.history.push_back(*row);
    for (std::size_t i = 0; i < one.shown.size(); ++i) {
      const auto row = model.row_of(one.shown[i]);
      if (!row) continue;
      seen.shown.push_back(*row);
      seen.clicked.push_back(one.clicked[i]);
    }
    seen_.push_back(std::move(seen));
  }
  for (const Seen& seen : seen_) events_.impressions.push_back({seen.history, seen.shown, seen.clicked});
}

void EventsOfReader::take(const FetchedModel& model, const local::EventUse& use, const StoredRows& stored) {
  const rounds::ItemTable& table = model.table();
  reader_.resize(table.reader_fields.size());
  situations_.resize(table.situation_fields.size());
  std::unordered_set<local::ItemRow> known;
  for (const StoredRow& row : stored.rows) {
    const auto item = model.row_of(row.item);
    if (!item || (use.distinct && !known.insert(*item).second)) continue;
    events_.rows.push_back({*item, !row.rating || *row.rating > use.positive_above});
    for (std::size_t f = 0; f < situations_.size(); ++f) {
      add_codes(table.situation_fields[f], row.situation, situations_[f].codes);
      situations_[f].offsets.push_back(situations_[f].codes.size());
    }
  }
  for (std::size_t f = 0; f < reader_.size(); ++f) {
    add_codes(table.reader_fields[f], stored.profile, reader_[f].codes);
    reader_[f].offsets.push_back(reader_[f].codes.size());
  }
  for (const Codes& field : reader_) events_.user_fields.push_back({field.offsets, field.codes});
  for (const Codes& field : situations_) events_.context_fields.push_back({field.offsets, field.codes});
}

}  // namespace sotto::device
