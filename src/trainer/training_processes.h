#pragma once
// The processes of one training (fl/process_group.h) as 'sotto train' has them: those that --processes starts
// on this machine, or those that torchrun, or somebody like it, has started with RANK, WORLD_SIZE,
// MASTER_ADDR and MASTER_PORT in their environment. Rank 0 speaks and writes for all; the others keep what a
// run writes in a folder that is gone with them.

#include <memory>

#include "base/files.h"
#include "fl/process_group.h"

namespace sotto::trainer {

// What the environment says of other processes: none in it, or this process's place among them. Refuses half
// a description, and --processes beside a whole one.
Result<std::optional<fl::MeetingPoint>> meeting_point_of_environment(std::int64_t processes);

// Movable; leaves with the object, ends the processes that it started, and removes its folder.
class TrainingProcesses {
 public:
  // processes: how many to start, this one among them; 0: those of the environment, or this one alone.
  // Starts them with this program's own arguments and waits until all have come. Where one is lost later, it
  // says which and ends this process with exit code 1.
  static Result<TrainingProcesses> join(std::int64_t processes);
  TrainingProcesses(TrainingProcesses&&) noexcept;
  TrainingProcesses& operator=(TrainingProcesses&&) = delete;
  ~TrainingProcesses();

  bool leads() const { return group().leads(); }
  const fl::ProcessGroup& group() const;
  // Where this process writes the run in `out`: there, or a copy of what is there, to go on from.
  Result<fs::path> own_folder(const fs::path& out) const;
  // Once all have what they go on from: from here on the leader may write.
  Status begin(Status own) const { return group().agree(std::move(own)); }

 private:
  struct Parts;
  explicit TrainingProcesses(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace sotto::trainer
