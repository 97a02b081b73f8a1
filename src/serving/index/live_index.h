#pragma once
// The exact index in few dimensions, updated while it is searched.
//
// A row is B numbers (an item's products with the B public basis vectors); a query is B coefficients; the
// score is their dot product, the answer always the one that scoring every row would give (scaled_query.h
// says what the score is to the last bit). Updates land in a small tail, a full tail becomes a segment, and
// segments are merged in the background; every change is published as a new snapshot, so that searches wait
// for nothing and see either all of an update or nothing of it.
//
// Safe from any number of threads. Updates wait for one another, never for searches; a merge holds updates up
// only while it is published. Destruction ends the background thread.

#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "serving/index/index_snapshot.h"
#include "serving/index/published.h"

namespace sotto::serving {

// Applied as one: first the removals, then the rows. A row whose number is in the index replaces it; removing
// what is not there changes nothing.
struct IndexUpdate {
  std::vector<ItemNumber> removals;
  RowBatch rows;
};

class LiveIndex final : public ItemIndex {
 public:
  enum class Merging { in_background, when_asked };
  static Result<std::unique_ptr<LiveIndex>> create(std::size_t dimension,
                                                   Merging merging = Merging::in_background,
                                                   FirstLook first_look = FirstLook::values);
  ~LiveIndex() override;
  LiveIndex(const LiveIndex&) = delete;
  LiveIndex& operator=(const LiveIndex&) = delete;

  // All or nothing: an error leaves the index as it was.
  Status update(const IndexUpdate& update);
  // One merge if one is due; false when none was. For Merging::when_asked.
  bool merge_once();

  std::size_t dimension() const override { return dimension_; }
  std::size_t size() const override { return published_.take()->live(); }
  std::size_t bytes() const override { return published_.take()->bytes(); }
  std::size_t segments() const { return published_.take()->parts.size(); }
  Result<std::vector<ScoredItem>> search(std::span<const float> coefficients, std::uint32_t k,
                                         const ItemFilter& filter = {}) const override;
  Result<std::vector<std::vector<ScoredItem>>> search_batch(std::span<const float> coefficients,
                                                            std::uint32_t k,
                                                            const ItemFilter& filter = {}) const override;

 private:
  LiveIndex(std::size_t dimension, Merging merging, FirstLook first_look);
  Status check(const IndexUpdate& update) const;
  void start_tail(IndexSnapshot& next);
  void remove(IndexSnapshot& next, ItemNumber item);
  void add(IndexSnapshot& next, const RowBatch& rows);
  void seal_tail(IndexSnapshot& next);
  void publish(IndexSnapshot next);
  void merge_until_stopped();

  const std::size_t dimension_;
  const FirstLook first_look_;
  std::mutex writing_;  // one update, or one merge being published
  std::mutex merging_;  // one merge
  std::shared_ptr<Tail> tail_;
  std::unordered_map<ItemNumber, std::size_t> tail_rows_of_;  // live rows of the tail
  Published<IndexSnapshot> published_;

  std::mutex waking_;
  std::condition_variable wake_;
  bool due_ = false, stopping_ = false;
  std::thread merger_;
};

}  // namespace sotto::serving
