#pragma once
// Means over readers with standard errors, and the share of the personalisation gain that a ranking keeps.

#include <cstdint>
#include <span>
#include <vector>

namespace sotto::private_serving {

struct Estimate {
  double value = 0, error = 0;  // error: one standard error
};

// One value per query and whose query it was; queries of one reader stand together, and readers are the
// independent units. Values that are not finite are left out (a query without a click says nothing).
Estimate mean_by_reader(std::span<const double> values, std::span<const std::uint32_t> reader_of);

// (x − floor)/(ceiling − floor) of the means. The error is that of the ratio, linearised, readers drawn: what
// a bootstrap over readers tends to. NaN when floor and ceiling coincide.
Estimate share_of_gain(std::span<const double> values, std::span<const double> floor,
                       std::span<const double> ceiling, std::span<const std::uint32_t> reader_of);

}  // namespace sotto::private_serving
