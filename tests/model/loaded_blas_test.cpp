#include "model/loaded_blas.h"

#include <gmock/gmock.h>

namespace sotto::model {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(LoadedBlas, NobodyIsToldToInstallWhatIsInstalled) {
  EXPECT_THAT(advice_on_slow_products(3, "libopenblas.so.0"),
              AllOf(HasSubstr("3.0 GFLOP/s"), HasSubstr("libopenblas.so.0"), Not(HasSubstr("nstall an"))));
  EXPECT_THAT(advice_on_slow_products(3, std::nullopt), HasSubstr("Install an optimised BLAS"));
}

}  // namespace
}  // namespace sotto::model
