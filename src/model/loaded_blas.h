#pragma once
// Which library multiplies matrices in this process, and what to do when that is slow.

#include <optional>
#include <string>

namespace sotto::model {

// The file name of an optimised BLAS among the loaded libraries; none: the reference one, or linked
// statically.
std::optional<std::string> optimised_blas();

// Advice that fits what is there: nobody is told to install what is installed.
std::string advice_on_slow_products(double gigaflops, const std::optional<std::string>& optimised);

}  // namespace sotto::model
