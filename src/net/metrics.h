#pragma once
// Numbers for operators, in Prometheus' text form. Small on purpose: three kinds of instrument on atomics, no
// lock on the hot path, no dependency.
//
// A registry owns its instruments; references stay valid as long as it lives. All functions are safe from any
// thread. Asking again for the same name and labels gives the same instrument. Labels must come from a small
// fixed set (routes, statuses): never from what people send. A name that is malformed, or used for another
// kind, is a mistake in the program and throws std::logic_error.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sotto::net {

class Counter {
 public:
  void add(std::uint64_t amount = 1) { value_.fetch_add(amount, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class Gauge {
 public:
  void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
  void add(std::int64_t amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

// Counts of values up to each bound (seconds, say) and their sum.
class Histogram {
 public:
  explicit Histogram(std::span<const double> ascending_bounds);
  void observe(double value);
  std::span<const double> bounds() const { return bounds_; }
  std::uint64_t count_in(std::size_t bucket) const;  // bounds().size(): above the last bound
  double sum() const { return sum_.load(std::memory_order_relaxed); }

 private:
  std::vector<double> bounds_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> counts_;
  std::atomic<double> sum_{0};
};

// 50 µs to 10 s.
std::span<const double> latency_bounds();

class MetricsRegistry {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  MetricsRegistry();
  ~MetricsRegistry();
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;

  // help: one line, taken from the first call for a name.
  Counter& counter(std::string_view name, std::string_view help, const Labels& labels = {});
  Gauge& gauge(std::string_view name, std::string_view help, const Labels& labels = {});
  Histogram& histogram(std::string_view name, std::string_view help, std::span<const double> bounds,
                       const Labels& labels = {});

  std::string to_text() const;  // version 0.0.4

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sotto::net
