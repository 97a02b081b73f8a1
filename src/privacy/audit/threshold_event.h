#pragma once
// From samples of a statistic on two neighbours to a lower bound of ε.
//
// (ε, δ)-DP says P(E) <= e^ε·Q(E) + δ for every event E, so one event with a provably large P(E) and a
// provably small Q(E) proves ε >= log((P(E) − δ)/Q(E)). The event, a threshold on one of several statistics
// in either direction, is chosen on one half of the samples by an approximate bound and judged on the other
// half by exact ones: choosing costs no confidence.

#include <functional>
#include <span>
#include <vector>

namespace sotto {

// Values of one statistic, independent draws on each neighbour.
struct PairSample {
  std::vector<double> first, second;
};

struct ThresholdEvent {
  std::size_t statistic = 0;  // index of the candidate
  double threshold = 0;
  bool above = true;         // value >= threshold, else value < threshold
  bool likely_first = true;  // on which neighbour the event is the likely one
};

// With the stated confidence both hold: P(event) >= likely on one neighbour, <= unlikely on the other.
struct RateBounds {
  double likely = 0;
  double unlikely = 1;
};

// What an event with these rates would prove; larger is better. Only ranks events, so it need not be exact.
using EventScore = std::function<double(const RateBounds&)>;

// The best event of all candidates. Every candidate must have at least one value on each side. `failure` is
// the one the bounds will be asked for later.
ThresholdEvent choose_event(std::span<const PairSample> candidates, double failure, const EventScore& score);

// Exact bounds for an event that was chosen without looking at `sample`; each fails with probability
// failure/2.
RateBounds bound_rates(const ThresholdEvent& event, const PairSample& sample, double failure);

// log((likely − δ)/unlikely), at least 0.
double epsilon_of_rates(const RateBounds& rates, double delta);

}  // namespace sotto
