#include "metrics/mean.h"

#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "metrics/held_out_report.h"

namespace sotto::metrics {

MeanAndError mean_and_error(std::span<const double> values) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {unknown, unknown};
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  if (values.size() == 1) return {mean, unknown};
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (count - 1) / count)};
}

namespace {

constexpr double ImpressionMetrics::*all_metrics[] = {&ImpressionMetrics::auc, &ImpressionMetrics::mrr,
                                                      &ImpressionMetrics::ndcg5, &ImpressionMetrics::ndcg10};

}  // namespace

void ImpressionMetricsSum::add(const std::optional<ImpressionMetrics>& metrics) {
  if (!metrics) {
    ++left_out_;
    return;
  }
  ++counted_;
  for (const auto metric : all_metrics) {
    sum_.*metric += (*metrics).*metric;
    squares_.*metric += (*metrics).*metric * (*metrics).*metric;
  }
}

void ImpressionMetricsSum::merge(const ImpressionMetricsSum& later) {
  counted_ += later.counted_;
  left_out_ += later.left_out_;
  for (const auto metric : all_metrics) {
    sum_.*metric += later.sum_.*metric;
    squares_.*metric += later.squares_.*metric;
  }
}

MeanImpressionMetrics ImpressionMetricsSum::mean() const {
  MeanImpressionMetrics result{{}, counted_, left_out_};
  if (counted_ == 0) return result;
  const auto n = static_cast<double>(counted_);
  for (const auto metric : all_metrics) {
    const double mean = sum_.*metric / n;
    result.mean.*metric = mean;
    // All in 0..1, so that little is lost by subtracting; with one value there is nothing to divide by.
    result.error.*metric = counted_ < 2
                               ? std::numeric_limits<double>::quiet_NaN()
                               : std::sqrt(std::max(0.0, squares_.*metric / n - mean * mean) / (n - 1));
  }
  return result;
}

void HeldOutMetricsSum::add(const HeldOutMetrics& metrics) {
  ++count_;
  for (std::size_t c = 0; c < std::size(HeldOutMetrics::cutoffs); ++c) {
    sum_.hits[c] += metrics.hits[c];
    sum_.ndcg[c] += metrics.ndcg[c];
  }
}

void HeldOutMetricsSum::merge(const HeldOutMetricsSum& later) {
  count_ += later.count_;
  for (std::size_t c = 0; c < std::size(HeldOutMetrics::cutoffs); ++c) {
    sum_.hits[c] += later.sum_.hits[c];
    sum_.ndcg[c] += later.sum_.ndcg[c];
  }
}

HeldOutMetrics HeldOutMetricsSum::mean() const {
  HeldOutMetrics result;
  if (count_ == 0) return result;
  for (std::size_t c = 0; c < std::size(HeldOutMetrics::cutoffs); ++c) {
    result.hits[c] = sum_.hits[c] / static_cast<double>(count_);
    result.ndcg[c] = sum_.ndcg[c] / static_cast<double>(count_);
  }
  return result;
}

HeldOutMetrics standard_errors(const HeldOutReport& report) {
  HeldOutMetrics errors;
  std::vector<double> hits, ndcg;
  for (std::size_t c = 0; c < std::size(HeldOutMetrics::cutoffs); ++c) {
    hits.clear(), ndcg.clear();
    for (const HeldOutMetrics& user : report.each) hits.push_back(user.hits[c]), ndcg.push_back(user.ndcg[c]);
    errors.hits[c] = mean_and_error(hits).error;
    errors.ndcg[c] = mean_and_error(ndcg).error;
  }
  return errors;
}

void ClickRates::add(std::span<const std::uint32_t> shown, std::span<const std::uint8_t> clicked) {
  for (std::size_t i = 0; i < shown.size(); ++i) {
    ++shown_[shown[i]];
    clicked_[shown[i]] += clicked[i] != 0 ? 1 : 0;
  }
}

std::vector<float> ClickRates::smoothed() const {
  const auto total = [](const std::vector<std::uint64_t>& counts) {
    return static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  };
  const double mean = total(shown_) > 0 ? total(clicked_) / total(shown_) : 0;
  std::vector<float> rates(shown_.size());
  for (std::size_t i = 0; i < rates.size(); ++i)
    rates[i] = static_cast<float>((static_cast<double>(clicked_[i]) + prior * mean) /
                                  (static_cast<double>(shown_[i]) + prior));
  return rates;
}

}  // namespace sotto::metrics
