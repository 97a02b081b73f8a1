#include "base/thread_pool.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace sotto {

namespace {

using Body = std::function<void(std::size_t, std::size_t)>;

// Never zero: when all thread-locals of a program start as zero, mold before 2.4 (its issue 1151) may lay it
// out so that it cannot be loaded.
enum class Place : char { outside_loops = 1, inside_loop = 2 };
thread_local Place place = Place::outside_loops;

struct InsideLoop {
  InsideLoop() { place = Place::inside_loop; }
  ~InsideLoop() { place = Place::outside_loops; }
  InsideLoop(const InsideLoop&) = delete;
  InsideLoop& operator=(const InsideLoop&) = delete;
};

// One parallel loop. Chunks are handed out in order, so when a chunk throws, every earlier chunk has been
// handed out too and runs to its end: keeping the exception of the earliest chunk makes the outcome
// deterministic.
class Loop {
 public:
  Loop(std::size_t n, std::size_t grain, const Body& body)
      : n_(n), grain_(grain), chunks_(n / grain + (n % grain != 0 ? 1 : 0)), body_(body) {}

  std::size_t chunks() const { return chunks_; }

  void work() {
    while (!stopped_.load(std::memory_order_relaxed)) {
      const std::size_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= chunks_) return;
      try {
        const std::size_t begin = chunk * grain_;
        body_(begin, begin + std::min(grain_, n_ - begin));
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_ || chunk < error_chunk_) {
          error_ = std::current_exception();
          error_chunk_ = chunk;
        }
        stopped_ = true;
      }
    }
  }

  void rethrow_first_error() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const std::size_t n_, grain_, chunks_;
  const Body& body_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
  std::size_t error_chunk_ = 0;
};

// Workers that sleep until a loop comes. Owned and driven by one thread at a time.
class Workers {
 public:
  explicit Workers(int count) {
    try {
      for (int i = 0; i < count; ++i) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      // The system gives no more threads: the ones there are do the work.
    }
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  // The calling thread takes part. Workers that wake too late find the loop gone.
  void run(Loop& loop) {
    {
      const std::lock_guard lock(mutex_);
      loop_ = &loop;
      ++loops_seen_;
    }
    wake_.notify_all();
    loop.work();
    std::unique_lock lock(mutex_);
    loop_ = nullptr;
    idle_.wait(lock, [this] { return busy_ == 0; });
  }

 private:
  void serve() {
    const InsideLoop inside;
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return ending_ || (loop_ != nullptr && seen != loops_seen_); });
      if (ending_) return;
      seen = loops_seen_;
      Loop* const loop = loop_;
      ++busy_;
      lock.unlock();
      loop->work();
      lock.lock();
      if (--busy_ == 0) idle_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  Loop* loop_ = nullptr;
  std::uint64_t loops_seen_ = 0;
  int busy_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

int usable_cores() {
  // The kernel refuses a mask smaller than its own; machines with more cores than the largest here do not
  // exist.
  for (std::size_t cores = 1024; cores <= std::size_t{1} << 20; cores *= 4) {
    cpu_set_t* mask = CPU_ALLOC(cores);
    if (mask == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(cores);
    const bool known = sched_getaffinity(0, bytes, mask) == 0;
    const int usable = known ? CPU_COUNT_S(bytes, mask) : 0;
    CPU_FREE(mask);
    if (known) return std::max(usable, 1);
  }
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

std::atomic<int>& wanted_threads() {
  static std::atomic<int> threads{usable_cores()};
  return threads;
}

// Serves one loop at a time and follows set_thread_count() between loops.
class Pool {
 public:
  static Pool& get() {
    // Never destroyed: a process may exit from a worker or from a forked child, where there is nobody to
    // join.
    static auto* pool = new Pool;
    return *pool;
  }

  // False when another thread is using the pool, and in a forked child, which has none of the workers.
  bool try_run(Loop& loop) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || ::getpid() != owner_) return false;
    if (const int threads = thread_count(); !workers_ || threads != threads_) {
      workers_.reset();
      workers_ = std::make_unique<Workers>(threads - 1);
      threads_ = threads;
    }
    workers_->run(loop);
    return true;
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<Workers> workers_;
  int threads_ = 0;
  const pid_t owner_ = ::getpid();
};

// Enough chunks to balance uneven work on many cores, few enough that handing them out costs nothing.
std::size_t chosen_grain(std::size_t n) {
  constexpr std::size_t chunks = 256;
  return std::max<std::size_t>(1, n / chunks + (n % chunks != 0 ? 1 : 0));
}

}  // namespace

void set_thread_count(int threads) { wanted_threads() = threads > 0 ? threads : usable_cores(); }

int thread_count() { return wanted_threads(); }

void parallel_for(std::size_t n, std::size_t grain, const Body& body) {
  if (n == 0) return;
  Loop loop(n, grain > 0 ? grain : chosen_grain(n), body);
  if (place == Place::inside_loop || thread_count() == 1 || loop.chunks() == 1) {
    loop.work();
  } else {
    const InsideLoop inside;
    if (!Pool::get().try_run(loop)) loop.work();
  }
  loop.rethrow_first_error();
}

void yield_to_other_threads() {
#ifdef __linux__
  constexpr int background = 5;  // of nice(1), for this thread alone
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), background);
#endif
}

}  // namespace sotto
