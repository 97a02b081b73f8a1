#include "fl/process_group.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include "base/interrupt.h"

// libtorch has Gloo built in; what declares it are headers of a package of its own.
#if defined(USE_C10D_GLOO) && __has_include(<gloo/context.h>)
#define SOTTO_HAVE_GLOO
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#endif

namespace sotto::fl {

using torch::Tensor;

namespace {
thread_local const ProcessGroup* innermost = nullptr;
}  // namespace

const ProcessGroup& processes() {
  static const ProcessGroup alone;
  return innermost != nullptr ? *innermost : alone;
}

TrainsTogether::TrainsTogether(const ProcessGroup& group) : around_(std::exchange(innermost, &group)) {}
TrainsTogether::~TrainsTogether() { innermost = around_; }

ProcessGroup::Part ProcessGroup::part_of(std::size_t n) const {
  const auto rank = static_cast<std::size_t>(rank_), size = static_cast<std::size_t>(size_);
  return {n * rank / size, n * (rank + 1) / size};
}

void Tally::add_up(const ProcessGroup& group) {
  std::array<double, 3> all = {loss, static_cast<double>(samples), static_cast<double>(arrived)};
  group.add(std::span<double>(all));
  *this = {all[0], static_cast<std::uint64_t>(all[1]), static_cast<std::uint64_t>(all[2])};
}

#ifdef SOTTO_HAVE_GLOO

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds between_pulses{1};
constexpr std::chrono::milliseconds look_again{20};
// A peer's end is seen at its connection at once; which peer it was, a few pulses later.
constexpr std::chrono::seconds missed_pulses{4}, to_find_out_who{8};
// Rounds may take long: silence is found by pulses, not by a limit on what they do.
constexpr std::chrono::hours longest_call{24 * 365};

using Store = c10::intrusive_ptr<c10d::Store>;

std::string key(const char* what, int rank) { return fmt::format("sotto/{}/{}", what, rank); }

Store open_store(const MeetingPoint& where, bool serves, std::chrono::milliseconds patience) {
  if (!where.file.empty()) return c10::make_intrusive<c10d::FileStore>(where.file.string(), where.size);
  c10d::TCPStoreOptions options;
  options.port = where.port;
  options.isServer = serves;
  options.waitWorkers = false;
  options.timeout = patience;
  return c10::make_intrusive<c10d::TCPStore>(where.address, options);
}

bool is_loopback(const MeetingPoint& where) {
  return !where.file.empty() || where.address == "localhost" || where.address == "::1" ||
         where.address.starts_with("127.");
}

// libtorch's errors name its own source behind the first line.
std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

}  // namespace

// Tells the others that this process lives, and listens for them.
struct ProcessGroup::Members {
  MeetingPoint where;
  Watch watch;
  Store store, pulses;  // two ways to one place: a call on one may wait
  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;

  std::mutex changing;
  std::condition_variable changed;
  bool leaving = false;
  std::mutex losing, hearing;
  std::thread beating;

  struct Heard {
    std::vector<std::uint8_t> pulse;
    steady_clock::time_point last = steady_clock::now();
    bool left = false;
  };
  std::vector<Heard> heard;

  ~Members() {
    if (!beating.joinable()) return;  // it never came together
    {
      const std::lock_guard lock(changing);
      leaving = true;
    }
    changed.notify_all();
    beating.join();
    try {
      store->set(key("left", where.rank), {1});
      // Rank 0 holds the store: it stays until nobody asks any more.
      const auto until = steady_clock::now() + to_find_out_who;
      for (int rank = 1; where.rank == 0 && rank < where.size; ++rank)
        while (!store->check({key("left", rank)}) && !has_ended(rank) && steady_clock::now() < until)
          std::this_thread::sleep_for(look_again);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the others are gone
    }
  }

  std::optional<std::string> has_ended(int rank) const {
    return watch.ended ? watch.ended(rank) : std::nullopt;
  }

  // The first to find out says it; whoever comes later waits for the end.
  [[noreturn]] void lose(const std::string& who) {
    const std::lock_guard lock(losing);
    watch.lost(fmt::format("{}: the training ends here. What was saved is whole: go on with --resume", who));
    std::abort();  // the contract of `lost`
  }

  std::string named(int rank, std::string_view what) const {
    return fmt::format("the process of rank {} of {} {}", rank, where.size, what);
  }

  // Who has ended without leaving, or has not been heard of for so long.
  std::optional<std::string> gone(std::chrono::seconds silence) {
    const std::lock_guard lock(hearing);
    try {
      for (int rank = 0; rank < where.size; ++rank) {
        Heard& other = heard[static_cast<std::size_t>(rank)];
        if (rank == where.rank || other.left) continue;
        other.left = pulses->check({key("left", rank)});
        if (other.left) continue;
        if (auto known = has_ended(rank)) return named(rank, *known);
        if (auto pulse = pulses->get(key("pulse", rank)); pulse != other.pulse) {
          other.pulse = std::move(pulse);
          other.last = steady_clock::now();
        }
        if (steady_clock::now() - other.last > silence)
          return named(rank, fmt::format("was lost: nothing was heard of it for {} s", silence.count()));
      }
    } catch (const std::exception&) {
      if (where.rank != 0) return named(0, "was lost: it cannot be reached");
    }
    return std::nullopt;
  }

  void beat() {
    std::uint64_t pulse = 0;
    std::unique_lock lock(changing);
    while (!changed.wait_for(lock, between_pulses, [&] { return leaving; })) {
      lock.unlock();
      try {
        const std::string now = std::to_string(++pulse);
        pulses->set(key("pulse", where.rank), {now.begin(), now.end()});
      } catch (const std::exception&) {
        if (where.rank != 0) lose(named(0, "was lost: it cannot be reached"));
      }
      if (const auto who = gone(watch.silence)) lose(*who);
      lock.lock();
    }
  }

  void finish(const c10::intrusive_ptr<c10d::Work>& work) {
    try {
      work->wait();
    } catch (const std::exception& error) {
      find_out(error);
    }
  }

  // A connection has broken: somebody has ended. The others still beat, and so it is found out who.
  [[noreturn]] void find_out(const std::exception& error) {
    const auto until = steady_clock::now() + to_find_out_who;
    while (steady_clock::now() < until) {
      if (const auto who = gone(missed_pulses)) lose(*who);
      for (int rank = 0; rank < where.size; ++rank)
        if (heard[static_cast<std::size_t>(rank)].left)
          lose(named(rank, "has left before its time; its own output says why"));
      std::this_thread::sleep_for(between_pulses / 4);
    }
    lose(fmt::format("a process of {} was lost ({})", where.size, first_line(error)));
  }

  void all_reduce(Tensor tensor, c10d::ReduceOp::RedOpType how = c10d::ReduceOp::SUM) {
    std::vector<Tensor> tensors = {std::move(tensor)};
    c10d::AllreduceOptions options;
    options.reduceOp = how;
    finish(gloo->allreduce(tensors, options));
  }

  void broadcast(Tensor tensor, int from) {
    std::vector<Tensor> tensors = {std::move(tensor)};
    c10d::BroadcastOptions options;
    options.rootRank = from;
    finish(gloo->broadcast(tensors, options));
  }

  Status wait_for_all() {
    const auto until = steady_clock::now() + watch.patience;
    for (int rank = 0; rank < where.size; ++rank) {
      while (!store->check({key("here", rank)})) {
        if (const auto known = has_ended(rank)) return failed("{}, before all had come", named(rank, *known));
        if (interrupted()) return failed("stopped before all processes had come");
        if (steady_clock::now() > until)
          return failed(
              "the process of rank {} of {} did not come within {} s: start all of them with the same "
              "MASTER_ADDR, MASTER_PORT and WORLD_SIZE",
              rank, where.size, watch.patience.count());
        std::this_thread::sleep_for(look_again);
      }
    }
    return {};
  }
};

Result<ProcessGroup> ProcessGroup::join(const MeetingPoint& where, Watch watch) {
  if (where.size < 1 || where.rank < 0 || where.rank >= where.size)
    return bad_input("a rank is one of 0 to WORLD_SIZE - 1, not {} of {}", where.rank, where.size);
  if (where.size == 1) return ProcessGroup();
  std::signal(SIGPIPE, SIG_IGN);  // a peer that ends is an error of a call
  auto members = std::make_unique<Members>();
  members->where = where;
  members->watch = std::move(watch);
  members->heard.resize(static_cast<std::size_t>(where.size));
  try {
    members->store = open_store(where, where.rank == 0, members->watch.patience);
    members->pulses = open_store(where, false, members->watch.patience);
    members->store->set(key("pulse", where.rank), {0});
    members->store->set(key("here", where.rank), {1});
    SOTTO_CHECK(members->wait_for_all());
    members->beating = std::thread([all = members.get()] { all->beat(); });
    auto options = c10d::ProcessGroupGloo::Options::create(longest_call);
    const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
    options->devices = {interface != nullptr ? c10d::ProcessGroupGloo::createDeviceForInterface(interface)
                        : is_loopback(where) ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                                             : c10d::ProcessGroupGloo::createDefaultDevice()};
    members->gloo =
        c10::make_intrusive<c10d::ProcessGroupGloo>(members->store, where.rank, where.size, options);
  } catch (const std::exception& error) {
    return failed("rank {} of {} cannot join the others at {}: {}", where.rank, where.size,
                  where.file.empty() ? fmt::format("{}:{}", where.address, where.port) : where.file.string(),
                  first_line(error));
  }
  return ProcessGroup(where.rank, where.size, std::move(members));
}

Status ProcessGroup::agree(Status own) const {
  if (!members_) return own;
  // Who failed, how, and with how many letters.
  const std::string text = own ? std::string() : own.error().message;
  Tensor outcomes = torch::zeros({2, size_}, torch::kInt64);
  if (!own) {
    outcomes[0][rank_] = own.error().kind == ErrorKind::bad_input ? 2 : 1;
    outcomes[1][rank_] = static_cast<std::int64_t>(text.size());
  }
  members_->all_reduce(outcomes);
  const auto* all = outcomes.data_ptr<std::int64_t>();
  for (int rank = 0; rank < size_; ++rank) {
    if (all[rank] == 0) continue;
    Tensor letters = torch::zeros({all[size_ + rank]}, torch::kUInt8);
    if (rank == rank_) std::copy(text.begin(), text.end(), letters.data_ptr<std::uint8_t>());
    if (letters.numel() > 0) members_->broadcast(letters, rank);
    const auto* first = letters.data_ptr<std::uint8_t>();
    return tl::unexpected(Error{all[rank] == 2 ? ErrorKind::bad_input : ErrorKind::failed,
                                std::string(first, first + letters.numel())});
  }
  return {};
}

bool ProcessGroup::any(bool own) const {
  if (!members_) return own;
  Tensor one = torch::full({1}, own ? 1 : 0, torch::kInt64);
  members_->all_reduce(one, c10d::ReduceOp::MAX);
  return one.item<std::int64_t>() != 0;
}

void ProcessGroup::add(std::span<std::uint32_t> own) const {
  if (!members_ || own.empty()) return;
  Tensor whole = torch::empty({static_cast<std::int64_t>(own.size())}, torch::kInt64);
  auto* values = whole.data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < own.size(); ++i) values[i] = own[i];
  members_->all_reduce(whole);
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<std::uint32_t>(values[i]);
}

void ProcessGroup::add(std::span<double> own) const {
  if (!members_ || own.empty()) return;
  members_->all_reduce(
      torch::from_blob(own.data(), {static_cast<std::int64_t>(own.size())}, torch::kFloat64));
}

void ProcessGroup::add(Tensor& own) const {
  if (!members_) return;
  Tensor here = own.detach().to(torch::kCPU).contiguous();
  members_->all_reduce(here);
  torch::NoGradGuard no_grad;
  own.copy_(here);
}

void ProcessGroup::from_leader(Tensor& values) const {
  if (!members_) return;
  Tensor here = values.detach().to(torch::kCPU).contiguous();
  members_->broadcast(here, 0);
  torch::NoGradGuard no_grad;
  values.copy_(here);
}

void ProcessGroup::from_leader(std::vector<std::uint32_t>& values) const {
  if (!members_) return;
  Tensor size = torch::full({1}, static_cast<std::int64_t>(values.size()), torch::kInt64);
  members_->broadcast(size, 0);
  values.resize(static_cast<std::size_t>(size.item<std::int64_t>()));
  if (values.empty()) return;
  members_->broadcast(  // bytes: c10d knows no unsigned numbers
      torch::from_blob(values.data(), {static_cast<std::int64_t>(values.size() * sizeof(std::uint32_t))},
                       torch::kUInt8),
      0);
}

#else

struct ProcessGroup::Members {};

Result<ProcessGroup> ProcessGroup::join(const MeetingPoint& where, Watch) {
  if (where.size == 1) return ProcessGroup();
  return bad_input(
      "this build trains in one process: install the headers of Gloo (Debian: libgloo-dev) and build again");
}
Status ProcessGroup::agree(Status own) const { return own; }
bool ProcessGroup::any(bool own) const { return own; }
void ProcessGroup::add(std::span<std::uint32_t>) const {}
void ProcessGroup::add(std::span<double>) const {}
void ProcessGroup::add(Tensor&) const {}
void ProcessGroup::from_leader(Tensor&) const {}
void ProcessGroup::from_leader(std::vector<std::uint32_t>&) const {}

#endif

ProcessGroup::ProcessGroup() = default;
ProcessGroup::ProcessGroup(int rank, int size, std::unique_ptr<Members> members)
    : rank_(rank), size_(size), members_(std::move(members)) {}
ProcessGroup::ProcessGroup(ProcessGroup&&) noexcept = default;
ProcessGroup& ProcessGroup::operator=(ProcessGroup&&) noexcept = default;
ProcessGroup::~ProcessGroup() = default;

}  // namespace sotto::fl
