#pragma once
// Folds whose devices may be anywhere, and what these are given: one description for a simulation that runs
// the devices' code (device_updates.h) and for a campaign whose devices are far away (remote_rounds.h).

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fl/cohort_rounds.h"
#include "fl/sent_numbers.h"
#include "local/local_trainer.h"
#include "model/interactions/tabular_inputs.h"
#include "model/news/news_shape.h"

namespace sotto::fl {

// What devices fetch anew with every version.
struct Fetched {
  Received numbers;               // [Q], in the layout of their trainer
  std::optional<Received> items;  // [M, D], vectors that change with the version
  std::uint64_t bytes() const { return numbers.bytes + (items ? items->bytes : 0); }
};

// What devices fetch follows from the parameters alone, and from nothing of another device.
class DeviceFold : public RoundFold {
 public:
  // At the current parameters: called by open(), and for the last version.
  virtual void publish() = 0;
  const Fetched& fetched() const { return fetched_; }  // as it was published last

 protected:
  Fetched fetched_;
};

// Devices fetch the model as 32-bit floats, and the mean of their updates is the direction.
class WholeModelFold final : public DeviceFold {
 public:
  // values: the current parameters, which must outlive this.
  WholeModelFold(secagg::EncodingPlan plan, const torch::Tensor& values)
      : plan_(std::move(plan)), values_(values) {}
  Result<RoundTask> open(std::uint32_t round) override;
  void publish() override { fetched_ = {sent_as_floats(values_), std::nullopt}; }
  Result<torch::Tensor> fold(std::uint32_t round, const torch::Tensor& mean,
                             const Gathered& gathered) override;

 private:
  secagg::EncodingPlan plan_;
  const torch::Tensor& values_;
};

// A feature of readers or situations with the names of its values, which are public.
struct NamedValues {
  std::string name;
  std::vector<std::string> values;
};

// What is the same for all versions, of which everything is public; what the trainer does not read is left
// out.
struct DeviceTask {
  std::string recipe;
  std::vector<std::pair<std::string, std::string>> local;  // settings of the devices' trainer
  std::string layout;                                      // of what they fetch and train
  std::vector<std::string> ids;                            // of the items, by row
  torch::Tensor vectors = {};                              // [M, D]
  torch::Tensor words = {};                                // [vocabulary, word size]
  model::ItemText titles = {};
  std::vector<model::TabularField> item_fields = {};
  std::vector<NamedValues> reader_fields = {}, situation_fields = {};

  // How a campaign of it is drafted unless its operator says otherwise.
  double clip = 1;
  bool bound_follows = false;
  unsigned bits = 18;
  double first_noise = 0;  // of two sums: of the first over the second; 0: there is one kind of sums

  // Refuses settings that make devices train something else than the layout.
  Result<std::unique_ptr<local::LocalTrainer>> trainer() const;
};

}  // namespace sotto::fl
