#include "data/importers/mind_files.h"

#include <xxhash.h>

#include "data/importers/delimited.h"
#include "data/importers/field_values.h"

namespace sotto::data {

namespace {

constexpr std::size_t news_columns = 8;
constexpr std::size_t behavior_columns = 5;
// MIND has 100. The limit bounds the table that one wrong line could ask for.
constexpr std::size_t max_entity_dimension = 1024;

class EntityCollector final : public JsonVisitor {
 public:
  void member(std::size_t depth, std::string_view key, const JsonScalar& value) override {
    if (depth != 2 || value.kind != JsonScalar::Kind::text) return;
    if (key == "WikidataId") current_.id = value.text;
    if (key == "Label") current_.label = value.text;
  }
  void object_end(std::size_t depth) override {
    if (depth != 2) return;
    if (current_.id.empty()) {
      ++without_id_;
    } else {
      entities_.push_back(std::move(current_));
    }
    current_ = {};
  }
  std::vector<EntityMention> take() { return std::move(entities_); }
  bool complete() const { return without_id_ == 0; }

 private:
  EntityMention current_;
  std::vector<EntityMention> entities_;
  std::size_t without_id_ = 0;
};

std::uint64_t fingerprint(const DelimitedReader& row) {
  std::uint64_t hash = 0;
  for (std::size_t column = 1; column < 5; ++column) {
    hash = XXH3_64bits_withSeed(row.field(column).data(), row.field(column).size(), hash + column);
  }
  return hash;
}

}  // namespace

Result<std::vector<EntityMention>> parse_entities(std::string_view json) {
  if (json.empty()) return std::vector<EntityMention>{};
  EntityCollector collector;
  SOTTO_CHECK(visit_json(json, JsonRoot::array, collector));
  if (!collector.complete()) return bad_input("an entity without WikidataId");
  return collector.take();
}

CandidateLabels parse_candidates(std::string_view text, std::vector<std::string_view>& ids,
                                 std::vector<std::uint8_t>& clicked) {
  split_list(text, ' ', ids);
  clicked.clear();
  for (std::string_view& token : ids) {
    const bool labelled = token.size() > 2 && (token.ends_with("-0") || token.ends_with("-1"));
    if (!labelled) continue;
    clicked.push_back(token.back() == '1' ? 1 : 0);
    token.remove_suffix(2);
  }
  if (ids.empty()) return CandidateLabels::malformed;
  if (clicked.empty()) return CandidateLabels::unlabelled;
  return clicked.size() == ids.size() ? CandidateLabels::labelled : CandidateLabels::malformed;
}

Status MindFiles::read_news(const fs::path& file) {
  SOTTO_TRY(DelimitedReader row, DelimitedReader::open(file, {}, job_.report));
  while (true) {
    SOTTO_TRY(const bool more, row.next());
    if (!more) return job_.report.check();
    if (!row.has_columns(news_columns)) continue;
    const std::string_view id = row.field(0);
    if (id.empty() || id.find(' ') != std::string_view::npos) {
      row.malformed("the news id is empty or holds a space");
      continue;
    }
    const auto title_entities = parse_entities(row.field(6));
    const auto abstract_entities = parse_entities(row.field(7));
    if (!title_entities || !abstract_entities) {
      row.malformed("entities: " + (title_entities ? abstract_entities : title_entities).error().message);
      continue;
    }
    row.good();
    const auto [known, first] = news_fingerprints_.try_emplace(builder_.item(id), fingerprint(row));
    if (!first) {
      differing_news_ += known->second == fingerprint(row) ? 0 : 1;
      continue;
    }
    builder_.add_item({.id = id,
                       .title = row.field(3),
                       .abstract = row.field(4),
                       .category = row.field(1),
                       .subcategory = row.field(2),
                       .title_entities = *title_entities,
                       .abstract_entities = *abstract_entities});
  }
}

MindFiles::StoredHistory MindFiles::store_history(std::string_view user, std::string_view text) {
  const XXH128_hash_t user_hash = XXH3_128bits(user.data(), user.size());
  const XXH128_hash_t hash = XXH3_128bits_withSeed(text.data(), text.size(), user_hash.low64);
  const auto [stored, first] = histories_.try_emplace(HistoryKey{hash.low64, hash.high64});
  if (first) {
    split_list(text, ' ', tokens_);
    items_.clear();
    for (const std::string_view id : tokens_) items_.push_back(builder_.item(id));
    stored->second = {builder_.add_history(items_), static_cast<std::uint32_t>(items_.size())};
  }
  return stored->second;
}

Status MindFiles::read_behaviors(const fs::path& file, const TimeSplit& split) {
  if (split.origin() == SplitOrigin::all_users) builder_.set_split_origin(SplitOrigin::all_users);
  SOTTO_TRY(DelimitedReader row, DelimitedReader::open(file, {}, job_.report));
  while (true) {
    SOTTO_TRY(const bool more, row.next());
    if (!more) return job_.report.check();
    if (!row.has_columns(behavior_columns)) continue;
    const std::string_view user = row.field(1);
    const auto time = parse_time(row.field(2), TimeFormat::american);
    const CandidateLabels labels = parse_candidates(row.field(4), tokens_, clicked_);
    if (user.empty()) {
      row.malformed("the user is empty");
    } else if (!time) {
      row.malformed("the time is not like 11/12/2019 2:14:46 PM");
    } else if (labels == CandidateLabels::malformed) {
      row.malformed("the candidates are not like N1-0 N2-1");
    } else if (labels == CandidateLabels::unlabelled) {
      row.good();
      ++unlabelled_;
    } else {
      row.good();
      shown_.clear();
      for (const std::string_view id : tokens_) shown_.push_back(builder_.item(id));
      const StoredHistory history = store_history(user, row.field(3));
      builder_.add_impression(builder_.user(user), *time, split.of({*time, row.hash()}), history.handle,
                              history.length, shown_, clicked_);
    }
  }
}

Status MindFiles::read_entity_vectors(const fs::path& file) {
  SOTTO_TRY(DelimitedReader row, DelimitedReader::open(file, {}, job_.report));
  std::vector<float> vector;
  std::size_t dimension = 0;
  while (true) {
    SOTTO_TRY(const bool more, row.next());
    if (!more) return job_.report.check();
    vector.clear();
    bool readable = !row.field(0).empty();
    // Lines end with a tab: the last field is empty.
    const std::size_t columns = row.fields().size() - (row.fields().back().empty() ? 1 : 0);
    for (std::size_t column = 1; column < columns && readable; ++column) {
      const auto value = parse_number(row.field(column));
      readable = value.has_value();
      if (readable) vector.push_back(*value);
    }
    if (dimension == 0 && readable) dimension = vector.size();
    if (!readable || vector.empty() || vector.size() != dimension || dimension > max_entity_dimension) {
      row.malformed("not an entity and the same number of values as in the other lines");
      continue;
    }
    SOTTO_CHECK(builder_.set_entity_vector(row.field(0), vector));
    row.good();
  }
}

void MindFiles::write_notes() {
  const std::uint64_t items = builder_.counts().items;
  job_.note_count(items - news_fingerprints_.size(), "items have no row in a news file: kept without text");
  job_.note_count(differing_news_,
                  "news rows differ from an earlier row of the same item: the first one counts");
  job_.note_count(unlabelled_, "impressions carry no labels: left out");
}

Result<std::vector<RowMoment>> behavior_moments(const fs::path& file) {
  ImportReport uncounted(ImportOptions{.malformed_limit = 1});
  SOTTO_TRY(DelimitedReader row, DelimitedReader::open(file, {}, uncounted));
  std::vector<RowMoment> moments;
  while (true) {
    SOTTO_TRY(const bool more, row.next());
    if (!more) return moments;
    if (row.fields().size() != behavior_columns) continue;
    if (const auto time = parse_time(row.field(2), TimeFormat::american))
      moments.push_back({*time, row.hash()});
  }
}

Result<bool> behaviors_are_labelled(const fs::path& file) {
  ImportReport uncounted(ImportOptions{.malformed_limit = 1});
  SOTTO_TRY(DelimitedReader row, DelimitedReader::open(file, {}, uncounted));
  std::vector<std::string_view> ids;
  std::vector<std::uint8_t> clicked;
  while (true) {
    SOTTO_TRY(const bool more, row.next());
    if (!more) return false;
    if (row.fields().size() != behavior_columns) continue;
    return parse_candidates(row.field(4), ids, clicked) == CandidateLabels::labelled;
  }
}

}  // namespace sotto::data
