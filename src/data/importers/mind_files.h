#pragma once
// The three files of MIND, wherever they lie: news.tsv, behaviors.tsv and entity_embedding.vec.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "data/dataset_builder.h"
#include "data/importers/import_job.h"
#include "data/importers/time_split.h"

namespace sotto::data {

// Where the files of MIND, or of a data set in MIND's format, lie in a source folder.

// Either sub-folders train, dev and test (or anything ending in _train, _dev, _test), or news.tsv, optional
// news_more.tsv and behaviors.tsv in the folder itself; entity_embedding.vec beside them is optional.
bool has_mind_layout(const fs::path& source);

// Reads such a folder. Without behaviour the data set is a catalogue only, which `behaviors_required`
// refuses.
Result<DatasetBuilder> read_mind_layout(const fs::path& source, std::string name, bool behaviors_required,
                                        ImportJob& job);

// Reads the files of one data set, in any number and order, into a builder. The builder and the job must
// outlive it. Not thread-safe.
class MindFiles {
 public:
  MindFiles(DatasetBuilder& builder, ImportJob& job) : builder_(builder), job_(job) {}

  // id, category, subcategory, title, abstract, url, title entities, abstract entities. The first row of an
  // item wins; later ones that differ are counted.
  Status read_news(const fs::path& file);
  // impression, user, time, history, candidates. Rows whose candidates carry no labels are left out and
  // counted.
  Status read_behaviors(const fs::path& file, const TimeSplit& split);
  // entity, then its vector. Entities that no item mentions are ignored.
  Status read_entity_vectors(const fs::path& file);
  // Tells the job what was noticed on the way; to be called once, at the end.
  void write_notes();

 private:
  struct StoredHistory {
    DatasetBuilder::HistoryHandle handle;
    std::uint32_t length;
  };
  // 128-bit hash of user and history text: MIND repeats a user's history in every impression, and this keeps
  // one copy without keeping the text.
  struct HistoryKey {
    std::uint64_t low, high;
    bool operator==(const HistoryKey&) const = default;
  };
  struct HistoryKeyHash {
    std::size_t operator()(const HistoryKey& key) const { return key.low; }
  };

  StoredHistory store_history(std::string_view user, std::string_view text);

  DatasetBuilder& builder_;
  ImportJob& job_;
  std::unordered_map<ItemId, std::uint64_t> news_fingerprints_;
  std::unordered_map<HistoryKey, StoredHistory, HistoryKeyHash> histories_;
  std::uint64_t differing_news_ = 0, unlabelled_ = 0;
  std::vector<std::string_view> tokens_;
  std::vector<ItemId> items_, shown_;
  std::vector<std::uint8_t> clicked_;
};

// Times of all rows of a behaviors file that have a readable one.
Result<std::vector<RowMoment>> behavior_moments(const fs::path& file);

// Whether the first row of a behaviors file says what was clicked.
Result<bool> behaviors_are_labelled(const fs::path& file);

// "N1-0 N2-1" into ids and clicks.
enum class CandidateLabels { labelled, unlabelled, malformed };
CandidateLabels parse_candidates(std::string_view text, std::vector<std::string_view>& ids,
                                 std::vector<std::uint8_t>& clicked);

// A column of entities: [{"WikidataId": "Q1", "Label": "..."}, ...]; empty text means none.
Result<std::vector<EntityMention>> parse_entities(std::string_view json);

}  // namespace sotto::data
