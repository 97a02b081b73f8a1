#include "local/page_evaluation.h"

#include <algorithm>
#include <optional>

namespace sotto::local {

namespace {

// The share of pairs that are in order, ties half; none: there are no pairs.
std::optional<double> auc_of(std::span<const float> scores, std::span<const std::uint8_t> clicked) {
  double in_order = 0;
  std::size_t pairs = 0;
  for (std::size_t click = 0; click < clicked.size(); ++click)
    for (std::size_t other = 0; other < clicked.size(); ++other) {
      if (clicked[click] == 0 || clicked[other] != 0) continue;
      ++pairs;
      in_order += scores[click] > scores[other] ? 1 : scores[click] == scores[other] ? 0.5 : 0;
    }
  if (pairs == 0) return std::nullopt;
  return in_order / static_cast<double>(pairs);
}

bool has_pairs(const OwnImpression& page) {
  const auto clicks =
      std::count_if(page.clicked.begin(), page.clicked.end(), [](auto one) { return one != 0; });
  return clicks > 0 && static_cast<std::size_t>(clicks) < page.clicked.size();
}

}  // namespace

bool is_held_out(const OwnImpression& page, std::uint64_t one_in) {
  if (one_in == 0) return false;
  // FNV-1a over numbers: spreads pages evenly, and is the same everywhere.
  std::uint64_t hash = 14695981039346656037U;
  const auto add = [&](std::uint64_t number) { hash = (hash ^ number) * 1099511628211U; };
  for (const auto rows : {page.history, page.shown}) {
    add(rows.size());
    for (const ItemRow row : rows) add(row);
  }
  return (hash ^ hash >> 32) % one_in == 0;
}

OwnEvents without_held_out(const OwnEvents& own, std::uint64_t one_in) {
  OwnEvents left = own;
  std::erase_if(left.impressions, [&](const OwnImpression& page) { return is_held_out(page, one_in); });
  return left;
}

Result<PageNumbers> evaluate_pages(const LocalTrainer& trainer, const RoundInputs& inputs,
                                   const OwnEvents& own, const HeldOutPages& pages, RandomSource& draws,
                                   const Cancelled& cancelled) {
  if (trainer.reads().reads_rows) return bad_input("this recipe ranks no pages: versions cannot be measured");
  if (pages.most == 0) return bad_input("no page counts: let at least one");
  double counted = 0, order = 0;
  for (auto page = own.impressions.rbegin(); page != own.impressions.rend(); ++page) {
    if (!is_held_out(*page, pages.one_in) || !has_pairs(*page)) continue;
    if (cancelled()) return failed("the measurement was stopped after {} pages", counted);
    SOTTO_TRY(const auto scores,
              trainer.rank(inputs, own, {page->history, page->shown, {}}, draws, cancelled));
    order += 2 * *auc_of(scores, page->clicked) - 1;
    if (++counted == static_cast<double>(pages.most)) break;
  }
  const auto most = static_cast<double>(pages.most);
  return PageNumbers{static_cast<float>(counted / most), static_cast<float>(order / most)};
}

}  // namespace sotto::local
