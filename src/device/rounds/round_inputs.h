#pragma once
// What a device trains and ranks with: a version and a table as they were fetched, and its own events by the
// rows of that table. What the table does not have was never public, or is so no more, and is left out.

#include <memory>
#include <optional>
#include <unordered_map>

#include "device/history/impression_store.h"
#include "device/history/row_store.h"
#include "local/local_trainer.h"
#include "rounds/model_version.h"

namespace sotto::device {

// Immutable, safe to share between threads. Owns all that inputs() refers to.
class FetchedModel {
 public:
  // Refuses a version whose numbers are not those of the trainer's layout, and vectors that are not the
  // table's.
  static Result<std::unique_ptr<const FetchedModel>> create(const rounds::ModelVersion& version,
                                                            rounds::ItemTable table,
                                                            const local::LocalTrainer& trainer,
                                                            std::uint64_t round);
  const local::RoundInputs& inputs() const { return inputs_; }
  const rounds::ItemTable& table() const { return table_; }
  std::optional<local::ItemRow> row_of(std::string_view id) const;

 private:
  FetchedModel(const rounds::ModelVersion& version, rounds::ItemTable table);
  const rounds::ItemTable table_;
  std::vector<float> numbers_, items_, words_;
  local::RoundInputs inputs_;
  std::unordered_map<std::string_view, local::ItemRow> rows_;
};

// One reader's events in the form that a trainer reads. Refers to the model; owns the rest.
class EventsOfReader {
 public:
  EventsOfReader(const FetchedModel& model, const local::EventUse& use,
                 const std::vector<StoredImpression>& impressions, const StoredRows& rows);
  EventsOfReader(const EventsOfReader&) = delete;
  EventsOfReader& operator=(const EventsOfReader&) = delete;
  const local::OwnEvents& events() const { return events_; }

 private:
  struct Codes {
    std::vector<std::uint64_t> offsets = {0};
    std::vector<std::uint32_t> codes;
  };
  struct Seen {
    std::vector<local::ItemRow> history, shown;
    std::vector<std::uint8_t> clicked;
  };
  void take(const FetchedModel& model, const std::vector<StoredImpression>& impressions);
  void take(const FetchedModel& model, const local::EventUse& use, const StoredRows& stored);

  std::vector<Seen> seen_;
  std::vector<Codes> reader_, situations_;
  local::OwnEvents events_;
};

}  // namespace sotto::device
