#pragma once
// The middle of a round: order → gather → fold. A round orders updates encoded by a public plan, a gather
// brings the sums of the devices' encoded updates, and a fold makes the model's next step of their mean
// (cohort_rounds.h). Only the gather differs between simulation and deployment.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/settings.h"
#include "fl/cohort_sampler.h"
#include "fl/round_update.h"
#include "local/lost_devices.h"
#include "secagg/vectors/plan_agreement.h"
#include "secagg/vectors/update_encoding.h"

namespace sotto::fl {

// What is asked of every device of a round.
struct RoundOrder {
  std::uint32_t round = 0;
  secagg::EncodingPlan plan;
  double bound = 1;  // one unit of the plan: a device divides its update by it
};

// What the server learns of one group.
struct GroupSum {
  std::vector<std::uint32_t> entries;  // of the plan, modulo 2^b
  std::uint64_t arrived = 0;           // devices in the sum
};

struct Gathered {
  std::vector<GroupSum> groups;
  std::uint64_t bytes_up = 0, bytes_down = 0;  // per device, of the sum itself
  // The simulation's own view, which exists on no server: summed over the samples.
  double loss = 0;
  std::uint64_t samples = 0;

  std::uint64_t arrived() const;
};

class Gather {
 public:
  virtual ~Gather() = default;
  // Fails when a group lost more devices than its noise allows for.
  virtual Result<Gathered> sum(const RoundOrder& order) = 0;
  // What a checkpoint must keep (UpdateSource::state).
  virtual std::vector<torch::Tensor*> state() { return {}; }
};

// A cohort as groups of exactly the plan's size, in the order given: the one rule for all gathers. Refuses a
// cohort that does not divide.
Result<std::vector<std::span<const data::UserId>>> groups_of(std::span<const data::UserId> cohort,
                                                             const secagg::EncodingPlan& plan);

// Who of those that came is lost while a round lasts.
struct LostDevices {
  double share = 0;
  std::uint64_t seed = 0;
  local::RoundPhase phase = local::RoundPhase::upload;
};

// Devices that are simulated in this process: who is drawn, who comes, what each sends, and where its noise
// and rounding come from.
struct SimulatedDevices {
  CappedCohorts cohorts;
  UserUpdates& updates;  // must outlive the gather
  privacy::NoiseOrigin noise;
  // What every device has agreed to, round by round, the last for all that follow. Empty: to anything.
  std::vector<secagg::PlanAgreement> agreed = {};
  LostDevices lost = {};
};

// The sum of one group while its devices hand in what they have encoded.
class GroupInProcess {
 public:
  virtual ~GroupInProcess() = default;
  // entries: of the plan, below 2^b. From several threads, for different users.
  virtual Status take(data::UserId user, std::span<const std::uint32_t> entries) = 0;
  virtual Result<GroupSum> finish() = 0;       // once, after all
  virtual std::uint64_t bytes_up() const = 0;  // per device, after finish()
  virtual std::uint64_t bytes_down() const = 0;
};

// Draws a round's cohort, parts it into groups and finds out who comes. What a group's sum is made of is the
// business of the classes below. One caller at a time.
class SimulatedRounds : public Gather {
 public:
  explicit SimulatedRounds(SimulatedDevices devices) : devices_(std::move(devices)) {}
  Result<Gathered> sum(const RoundOrder& order) final;
  std::vector<torch::Tensor*> state() final { return devices_.cohorts.state(); }

 protected:
  // group: all who were drawn, ascending; present: those of them whose updates are in the sum. Adds the
  // group's sum, and the loss and samples of its devices, to what was gathered.
  virtual Status add_group(const RoundOrder& order, std::span<const data::UserId> group,
                           std::span<const data::UserId> present, Gathered& gathered) = 0;
  const SimulatedDevices& devices() const { return devices_; }
  // Of the group: those who came and are lost in the phase that devices().lost names, ascending.
  std::span<const data::UserId> lost() const { return lost_; }

 private:
  SimulatedDevices devices_;
  std::vector<data::UserId> lost_;
};

// Device by device: computes the updates of those who come and encodes many of them at a time on all threads.
// Whole numbers are added, so a sum is the same to the last bit in any order and on any number of threads.
class InProcessGather : public SimulatedRounds {
 public:
  using SimulatedRounds::SimulatedRounds;

 protected:
  Status add_group(const RoundOrder& order, std::span<const data::UserId> group,
                   std::span<const data::UserId> present, Gathered& gathered) final;
  virtual Result<std::unique_ptr<GroupInProcess>> open(const RoundOrder& order,
                                                       std::span<const data::UserId> group,
                                                       std::span<const data::UserId> present) = 0;
};

// Every device's entries are added as they are: masks are left out, because they cancel.
class SimulatedGather final : public InProcessGather {
 public:
  using InProcessGather::InProcessGather;

 protected:
  Result<std::unique_ptr<GroupInProcess>> open(const RoundOrder& order, std::span<const data::UserId> group,
                                               std::span<const data::UserId> present) override;
};

// Fails, with what to do, when the loss of a device is no longer a number.
Status check_loss(double loss, std::uint32_t round);
// Why an update could not be taken: because the model diverged, where it is not made of numbers.
tl::unexpected<Error> refused_update(Error why, std::span<const float> update, std::uint32_t round);

// How the sums of a simulated training come about.
struct SumSettings {
  // From so many devices per round on, sums=auto is sums=law.
  static constexpr std::uint64_t large_cohort = 1000;
  std::string sums = "auto", server = "semi-honest", lost_phase = "upload";
  double lost = 0;
  void bind(SettingsTable& table);
  // What `sums` is for rounds of so many devices: simulated, masked or law.
  std::string chosen(std::uint64_t cohort) const;
  // How many are lost, and when, is of these settings; who, of the seed in devices.lost.
  Result<std::unique_ptr<Gather>> gather(SimulatedDevices devices) const;
};

}  // namespace sotto::fl
