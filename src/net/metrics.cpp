#include "net/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>
#include <variant>

namespace sotto::net {

Histogram::Histogram(std::span<const double> ascending_bounds)
    : bounds_(ascending_bounds.begin(), ascending_bounds.end()),
      counts_(std::make_unique<std::atomic<std::uint64_t>[]>(bounds_.size() + 1)) {}

void Histogram::observe(double value) {
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  counts_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

std::uint64_t Histogram::count_in(std::size_t bucket) const {
  return bucket <= bounds_.size() ? counts_[bucket].load(std::memory_order_relaxed) : 0;
}

std::span<const double> latency_bounds() {
  static constexpr std::array bounds{0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                     0.05,    0.1,    0.25,    0.5,    1.0,   2.5,    5.0,   10.0};
  return bounds;
}

namespace {

using Instrument = std::variant<std::unique_ptr<Counter>, std::unique_ptr<Gauge>, std::unique_ptr<Histogram>>;

struct Family {
  std::string help;
  std::size_t kind = 0;                       // index in Instrument
  std::map<std::string, Instrument> members;  // by rendered labels: `a="b",c="d"`
};

std::string render_labels(const MetricsRegistry::Labels& labels) {
  std::string text;
  for (const auto& [label, value] : labels) {
    if (!text.empty()) text += ',';
    text += label + "=\"";
    for (const char c : value) {
      if (c == '\\' || c == '"') text += '\\';
      text += c == '\n' ? std::string("\\n") : std::string(1, c);
    }
    text += '"';
  }
  return text;
}

std::string braces(const std::string& labels) { return labels.empty() ? "" : "{" + labels + "}"; }

void render(std::string& out, std::string_view name, const std::string& labels, const Counter& counter) {
  fmt::format_to(std::back_inserter(out), "{}{} {}\n", name, braces(labels), counter.value());
}

void render(std::string& out, std::string_view name, const std::string& labels, const Gauge& gauge) {
  fmt::format_to(std::back_inserter(out), "{}{} {}\n", name, braces(labels), gauge.value());
}

void render(std::string& out, std::string_view name, const std::string& labels, const Histogram& histogram) {
  const std::string before = labels.empty() ? "" : labels + ",";
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < histogram.bounds().size(); ++i) {
    below += histogram.count_in(i);
    fmt::format_to(std::back_inserter(out), "{}_bucket{{{}le=\"{}\"}} {}\n", name, before,
                   histogram.bounds()[i], below);
  }
  below += histogram.count_in(histogram.bounds().size());
  fmt::format_to(std::back_inserter(out),
                 "{0}_bucket{{{1}le=\"+Inf\"}} {2}\n{0}_sum{3} {4}\n{0}_count{3} {2}\n", name, before, below,
                 braces(labels), histogram.sum());
}

}  // namespace

struct MetricsRegistry::State {
  mutable std::mutex mutex;
  std::map<std::string, Family, std::less<>> families;

  template <class T, class Make>
  T& find(std::string_view name, std::string_view help, const Labels& labels, Make make) {
    const auto is_word = [](std::string_view word) {
      return !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) == 0 &&
             std::all_of(word.begin(), word.end(),
                         [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
    };
    if (!is_word(name) ||
        !std::all_of(labels.begin(), labels.end(), [&](const auto& label) { return is_word(label.first); })) {
      throw std::logic_error(fmt::format("\"{}\" or one of its labels is no name for a metric", name));
    }
    const std::lock_guard lock(mutex);
    constexpr std::size_t kind = std::is_same_v<T, Counter> ? 0 : std::is_same_v<T, Gauge> ? 1 : 2;
    auto found = families.find(name);
    if (found == families.end()) {
      found = families.emplace(std::string(name), Family{std::string(help), kind, {}}).first;
    }
    Family& family = found->second;
    if (family.kind != kind) throw std::logic_error(fmt::format("the metric {} is of another kind", name));
    Instrument& member =
        family.members.try_emplace(render_labels(labels), std::unique_ptr<T>()).first->second;
    auto& instrument = std::get<std::unique_ptr<T>>(member);
    if (!instrument) instrument = make();
    return *instrument;
  }
};

MetricsRegistry::MetricsRegistry() : state_(std::make_unique<State>()) {}
MetricsRegistry::~MetricsRegistry() = default;

Counter& MetricsRegistry::counter(std::string_view name, std::string_view help, const Labels& labels) {
  return state_->find<Counter>(name, help, labels, [] { return std::make_unique<Counter>(); });
}

Gauge& MetricsRegistry::gauge(std::string_view name, std::string_view help, const Labels& labels) {
  return state_->find<Gauge>(name, help, labels, [] { return std::make_unique<Gauge>(); });
}

Histogram& MetricsRegistry::histogram(std::string_view name, std::string_view help,
                                      std::span<const double> bounds, const Labels& labels) {
  return state_->find<Histogram>(name, help, labels, [&] { return std::make_unique<Histogram>(bounds); });
}

std::string MetricsRegistry::to_text() const {
  static constexpr std::string_view kinds[] = {"counter", "gauge", "histogram"};
  const std::lock_guard lock(state_->mutex);
  std::string out;
  for (const auto& [name, family] : state_->families) {
    fmt::format_to(std::back_inserter(out), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, family.help,
                   kinds[family.kind]);
    for (const auto& [labels, member] : family.members) {
      std::visit([&, &metric = name,
                  &words = labels](const auto& instrument) { render(out, metric, words, *instrument); },
                 member);
    }
  }
  return out;
}

}  // namespace sotto::net
