#pragma once
// Processes that train together, on one machine or several: every one runs the same rounds on the same
// parameters and computes the updates of its own share of a cohort's users. The leader, rank 0, alone draws
// cohorts and the noise of a sum, writes the log and the checkpoints. Whole numbers are added exactly, so
// that their sums are the same to the last bit for any number of processes.
//
// Stands on c10d of libtorch with Gloo, over TCP. Neither encrypts nor asks who calls: processes of one
// machine meet in a file and talk over loopback; machines need a network of their own.
//
// A call is made by all processes in the same order, by the thread that trains. Where a process of the group
// is lost no call returns: Watch::lost is told, and must not return either.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "model/tensor.h"

namespace sotto::fl {

// Where the processes of one training find each other.
struct MeetingPoint {
  int rank = 0, size = 1;
  fs::path file = {};        // of processes on one machine, in a folder that nobody else can read; or
  std::string address = {};  // of rank 0, which listens there on all interfaces
  std::uint16_t port = 0;
};

class ProcessGroup {
 public:
  // For whoever ends the process, from any thread.
  struct Watch {
    std::function<void(const std::string& why)> lost = {};  // throws, or ends the process
    // What the caller knows of a rank that has ended and did not say so; empty: nothing.
    std::function<std::optional<std::string>(int rank)> ended = {};
    std::chrono::seconds patience{300};  // until all have come
    std::chrono::seconds silence{20};    // after which a process counts as lost
  };

  // Alone: every call gives back what it was given.
  ProcessGroup();
  // Waits until all have come. Refused in builds without Gloo's headers.
  static Result<ProcessGroup> join(const MeetingPoint& where, Watch watch);
  ProcessGroup(ProcessGroup&&) noexcept;
  ProcessGroup& operator=(ProcessGroup&&) noexcept;
  // Leaves: the others are told, and go on where they need nobody.
  ~ProcessGroup();

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool leads() const { return rank_ == 0; }

  // This process's share of n things, or of a list: one stretch of it, in order of rank.
  struct Part {
    std::size_t begin, end;
  };
  Part part_of(std::size_t n) const;
  template <class T>
  std::span<const T> share_of(std::span<const T> all) const {
    const Part own = part_of(all.size());
    return all.subspan(own.begin, own.end - own.begin);
  }

  // The first failure by rank, for all; success where nobody failed.
  Status agree(Status own) const;
  // Whether it holds for one of them.
  bool any(bool own) const;

  // Sums over the processes. Whole numbers modulo 2^32, and doubles of which at most one is not zero,
  // exactly; others up to the order of addition, yet to the same bits everywhere.
  void add(std::span<std::uint32_t> own) const;
  void add(std::span<double> own) const;
  void add(torch::Tensor& own) const;
  // As the leader has it.
  void from_leader(torch::Tensor& values) const;
  void from_leader(std::vector<std::uint32_t>& values) const;

 private:
  struct Members;
  ProcessGroup(int rank, int size, std::unique_ptr<Members> members);
  int rank_ = 0, size_ = 1;
  std::unique_ptr<Members> members_;
};

// What one process's share of a sum comes to, beside the whole numbers.
struct Tally {
  double loss = 0;
  std::uint64_t samples = 0, arrived = 0;
  void add_up(const ProcessGroup& group);  // over all processes
};

// The group that this thread trains in: the innermost of those below, or the process alone.
const ProcessGroup& processes();

class TrainsTogether {
 public:
  explicit TrainsTogether(const ProcessGroup& group);
  ~TrainsTogether();
  TrainsTogether(const TrainsTogether&) = delete;
  TrainsTogether& operator=(const TrainsTogether&) = delete;

 private:
  const ProcessGroup* around_;
};

}  // namespace sotto::fl
