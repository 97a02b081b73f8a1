#include "local/check_numbers.h"

#include <algorithm>
#include <cmath>

namespace sotto::local {

bool all_finite(std::span<const float> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](float number) { return std::isfinite(number); });
}

Status check_parameters(const Layout& layout, std::span<const float> parameters) {
  if (parameters.size() != layout.size())
    return bad_input("{} parameters were fetched and the model has {}: fetch those of its version",
                     parameters.size(), layout.size());
  if (!all_finite(parameters))
    return bad_input("a fetched parameter is not a finite number: the model cannot be trained any further");
  return {};
}

namespace {
constexpr std::string_view not_finite = "the training gave numbers that are not finite";
}

Status check_result(const LocalUpdate& update) {
  if (!std::isfinite(update.loss) || !all_finite(update.direction))
    return failed("{}: nothing is sent in this round", not_finite);
  return {};
}

bool came_from_result(const Error& error) { return error.message.find(not_finite) != std::string::npos; }

Result<std::vector<float>> chosen_scores(std::span<const float> all, std::span<const ItemRow> items) {
  if (!all_finite(all)) return failed("the version of the model ranks by numbers that are not finite");
  std::vector<float> scores;
  scores.reserve(items.size());
  for (const ItemRow item : items) {
    if (item >= all.size())
      return bad_input("item {} of {} cannot be ranked: it was not fetched", item, all.size());
    scores.push_back(all[item]);
  }
  return scores;
}

}  // namespace sotto::local
