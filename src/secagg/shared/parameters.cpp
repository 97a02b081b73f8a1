#include "secagg/shared/parameters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

namespace sotto::secagg {

namespace {

double log_choose(std::uint32_t n, std::uint32_t k) {
  return std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(static_cast<double>(n - k) + 1.0);
}

}  // namespace

std::vector<double> Hypergeometric::log_probabilities() const {
  std::vector<double> result(draws + 1, -std::numeric_limits<double>::infinity());
  const std::uint32_t unmarked = population - marked;
  const double all = log_choose(population, draws);
  for (std::uint32_t j = draws > unmarked ? draws - unmarked : 0; j <= draws && j <= marked; ++j) {
    result[j] = log_choose(marked, j) + log_choose(unmarked, draws - j) - all;
  }
  return result;
}

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return std::isinf(a) ? a : a + std::log1p(std::exp(b - a));
}

namespace {

constexpr double impossible = -std::numeric_limits<double>::infinity();

double to_bits(double natural_logarithm) { return natural_logarithm / std::numbers::ln2; }

// ln P[some client's neighbours hold at least t corrupted] for t = 0 … degree + 1. An honest client's
// neighbours are a uniform draw from the others, all the corrupted ones among them; union over the clients.
std::vector<double> corrupted_tail(const GroupParameters& group) {
  const auto exact = Hypergeometric{group.clients - 1, group.corrupted, group.degree}.log_probabilities();
  std::vector<double> tail(exact.size() + 1, impossible);
  for (std::size_t t = exact.size(); t-- > 0;) tail[t] = log_add(tail[t + 1], exact[t]);
  for (double& value : tail) value += std::log(group.clients);
  return tail;
}

// ln P[some client has fewer than t surviving neighbours] for t = 0 … degree + 1. Worst for a client that
// itself survives: then all the lost ones are among its possible neighbours.
std::vector<double> survivors_tail(const GroupParameters& group) {
  const auto exact =
      Hypergeometric{group.clients - 1, group.clients - 1 - group.dropped, group.degree}.log_probabilities();
  std::vector<double> tail(exact.size() + 1, impossible);
  for (std::size_t t = 0; t < exact.size(); ++t) tail[t + 1] = log_add(tail[t], exact[t]);
  for (double& value : tail) value += std::log(group.clients);
  return tail;
}

// ln P[honest survivors disconnected]. On the ring two of them are joined unless degree/2 consecutive labels
// between them are missing, and there are two ways round: a split needs two disjoint such runs. Fewer than
// n²/2 places for the pair, and `degree` labels that must all be missing.
double log_disconnected(const GroupParameters& group) {
  if (group.complete_graph()) return impossible;
  const std::uint32_t missing = std::min(group.clients, group.corrupted + group.dropped);
  if (missing < group.degree) return impossible;
  double result = std::log(group.clients) + std::log(group.clients - 1.0) - std::numbers::ln2;
  for (std::uint32_t j = 0; j < group.degree; ++j) {
    result += std::log(static_cast<double>(missing - j) / static_cast<double>(group.clients - j));
  }
  return result;
}

// The middle of the thresholds that are both safe and reachable.
std::optional<std::uint32_t> middle_threshold(const GroupParameters& group) {
  const double safe = -(group.security_bits + 1) * std::numbers::ln2;  // half the budget: see is_connected
  const double reachable = -group.correctness_bits * std::numbers::ln2;
  const auto corrupted = corrupted_tail(group);
  const auto survivors = survivors_tail(group);
  std::uint32_t low = 2;  // with 1, a share would be the secret
  while (low <= group.degree && corrupted[low] > safe) ++low;
  std::uint32_t high = group.degree;
  while (high >= low && survivors[high] > reachable) --high;
  if (low > high) return std::nullopt;
  return (low + high + 1) / 2;
}

bool is_connected(const GroupParameters& group) {
  return to_bits(log_disconnected(group)) <= -(group.security_bits + 1);
}

Status check_counts(const GroupParameters& group) {
  if (group.clients < 3 || group.clients > max_group_clients) {
    return bad_input("a group of {} clients: 3 to {} are possible, larger cohorts are split into groups",
                     group.clients, max_group_clients);
  }
  if (std::uint64_t{group.corrupted} + group.dropped + 2 > group.clients) {
    return bad_input(
        "{} clients of which {} may be corrupted and {} lost: fewer than two honest vectors may remain, and "
        "a sum of one hides nothing",
        group.clients, group.corrupted, group.dropped);
  }
  if (!(group.security_bits >= 30 && group.security_bits <= 128)) {
    return bad_input("{} bits of statistical security: 30 to 128 are possible, 40 is usual",
                     group.security_bits);
  }
  if (!(group.correctness_bits >= 1 && group.correctness_bits <= 128)) {
    return bad_input("{} bits of correctness: 1 to 128 are possible, 20 is usual", group.correctness_bits);
  }
  return {};
}

// More than half of all, even when every corrupted client signs or reveals twice. Then two different sets of
// arrivals cannot both find enough signatures, and the two secrets of a client not both enough shares.
std::uint32_t active_quorum(const GroupParameters& group) {
  return (group.clients + group.corrupted) / 2 + 1;
}
std::uint32_t active_threshold(const GroupParameters& group) {
  return (group.clients - 1 + group.corrupted) / 2 + 1;
}

Result<GroupParameters> find_active(GroupParameters group) {
  group.degree = group.clients - 1;
  group.threshold = active_threshold(group);
  group.quorum = active_quorum(group);
  const std::uint32_t survivors = group.clients - group.dropped;
  if (survivors < group.quorum || survivors - 1 < group.threshold) {
    return bad_input(
        "against an active server {} of {} clients must stay, with {} corrupted, but {} may be lost: lower "
        "one of the two fractions (twice the lost and once the corrupted must stay below the whole)",
        std::max(group.quorum, group.threshold + 1), group.clients, group.corrupted, group.dropped);
  }
  return group;
}

Result<GroupParameters> find_semi_honest(GroupParameters group) {
  // Larger steps for larger degrees: a search over all of them would take long where only a nearly complete
  // graph will do.
  for (group.degree = 2; group.degree + 1 < group.clients;
       group.degree += std::max(2U, group.degree / 64 * 2)) {
    if (!is_connected(group)) continue;
    if (const auto threshold = middle_threshold(group)) {
      group.threshold = *threshold;
      return group;
    }
  }
  group.degree = group.clients - 1;
  if (const auto threshold = middle_threshold(group)) {
    group.threshold = *threshold;
    return group;
  }
  return bad_input(
      "{} corrupted and {} lost of {} clients: even if everybody shares with everybody, no number of shares "
      "is "
      "both out of reach of the corrupted and in reach of the survivors",
      group.corrupted, group.dropped, group.clients);
}

}  // namespace

FailureBounds failure_bounds(const GroupParameters& group) {
  return {.too_many_corrupted = to_bits(corrupted_tail(group)[group.threshold]),
          .disconnected = to_bits(log_disconnected(group)),
          .too_few_shares = to_bits(survivors_tail(group)[group.threshold])};
}

Result<GroupParameters> find_parameters(const ThreatModel& threat) {
  if (!(threat.corrupted >= 0 && threat.corrupted < 1) || !(threat.dropping >= 0 && threat.dropping < 1)) {
    return bad_input("fractions corrupted {} and dropping {}: both must lie in [0, 1)",
                     threat.corrupted.value, threat.dropping.value);
  }
  // A fraction of a client counts as a client. The little that is taken off first is for fractions like 0.1,
  // which are not exact.
  const auto count = [&](double fraction) {
    return static_cast<std::uint32_t>(std::ceil(fraction * threat.clients - 1e-9));
  };
  GroupParameters group{.clients = threat.clients,
                        .corrupted = count(threat.corrupted),
                        .dropped = count(threat.dropping),
                        .server = threat.server,
                        .security_bits = threat.security_bits,
                        .correctness_bits = threat.correctness_bits};
  SOTTO_CHECK(check_counts(group));
  group.minimum_alive = group.clients - group.dropped;
  return threat.server == ServerModel::active ? find_active(group) : find_semi_honest(group);
}

Status check_parameters(const GroupParameters& group) {
  SOTTO_CHECK(check_counts(group));
  if (group.minimum_alive + group.dropped != group.clients) {
    return bad_input("{} clients of which {} may be lost need {} alive, not {}", group.clients, group.dropped,
                     group.clients - group.dropped, group.minimum_alive);
  }
  if (!group.complete_graph() &&
      (group.degree < 2 || group.degree % 2 != 0 || group.degree >= group.clients)) {
    return bad_input("{} neighbours among {} clients: an even number, or all the others", group.degree,
                     group.clients);
  }
  if (group.threshold < 2 || group.threshold > group.degree) {
    return bad_input("{} shares of {} open a secret: 2 to {} are possible", group.threshold, group.degree,
                     group.degree);
  }
  if (group.server == ServerModel::active) {
    if (!group.complete_graph()) return bad_input("an active server needs the complete graph");
    if (group.quorum < active_quorum(group) || group.quorum > group.minimum_alive) {
      return bad_input("a quorum of {} signatures: {} to {} are possible", group.quorum, active_quorum(group),
                       group.minimum_alive);
    }
    if (group.threshold < active_threshold(group) || group.threshold + 1 > group.minimum_alive) {
      return bad_input("{} shares open a secret: {} to {} are possible against an active server",
                       group.threshold, active_threshold(group), group.minimum_alive - 1);
    }
    return {};
  }
  if (group.server != ServerModel::semi_honest) return bad_input("an unknown kind of server");
  if (group.quorum != 0) return bad_input("a quorum of signatures is for active servers");
  const FailureBounds bounds = failure_bounds(group);
  if (log_add(bounds.too_many_corrupted * std::numbers::ln2, bounds.disconnected * std::numbers::ln2) >
      -group.security_bits * std::numbers::ln2) {
    return bad_input(
        "{} neighbours and {} shares do not give {} bits of security against {} corrupted and {} lost of {}",
        group.degree, group.threshold, group.security_bits, group.corrupted, group.dropped, group.clients);
  }
  if (bounds.too_few_shares > -group.correctness_bits) {
    return bad_input("{} neighbours and {} shares do not give {} bits of correctness with {} lost of {}",
                     group.degree, group.threshold, group.correctness_bits, group.dropped, group.clients);
  }
  return {};
}

}  // namespace sotto::secagg
