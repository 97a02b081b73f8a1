#include "model/loaded_blas.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace sotto::model {

std::optional<std::string> optimised_blas() {
  // Whose product is called is what counts: several may be loaded.
  void* const product = dlsym(RTLD_DEFAULT, "sgemm_");
  Dl_info origin{};
  if (product == nullptr || dladdr(product, &origin) == 0 || origin.dli_fname == nullptr) return std::nullopt;
  std::error_code unresolved;
  // Debian's libblas.so.3 is a link to the chosen one, in a folder named after it.
  const std::string path = std::filesystem::canonical(origin.dli_fname, unresolved).string();
  constexpr std::array<std::string_view, 4> optimised = {"openblas", "mkl", "blis", "atlas"};
  for (const std::string_view name : optimised)
    if (path.find(name) != std::string::npos) return path;
  return std::nullopt;
}

std::string advice_on_slow_products(double gigaflops, const std::optional<std::string>& optimised) {
  const std::string slow =
      fmt::format("matrix products run at {:.1f} GFLOP/s only: training will be very slow. ", gigaflops);
  if (optimised)
    return slow + fmt::format(
                      "An optimised BLAS is loaded ({}), so other work on this machine may hold the cores: "
                      "look with 'top', or use fewer with --threads",
                      *optimised);
  return slow + "Install an optimised BLAS (Debian: libopenblas0-openmp)";
}

}  // namespace sotto::model
