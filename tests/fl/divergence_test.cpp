#include "fl/divergence.h"

#include <gtest/gtest.h>

namespace sotto::fl {
namespace {

TEST(Divergence, IsToldFromOtherErrorsWhereverItTravelled) {
  const Error made = diverged(7, "the loss", "Lower learning_rate").value();
  EXPECT_EQ(diverged_round(made), 7U);
  EXPECT_EQ(diverged_round(Error(made).in("PrivRec: S = 20").in("sweep")), 7U);
  EXPECT_NE(made.message.find("the loss is no longer a number. Lower learning_rate"), std::string::npos);
  EXPECT_FALSE(diverged_round(failed("the disk is full").value()));
  EXPECT_FALSE(diverged_round(failed("the model diverged in round soon").value()));
  EXPECT_FALSE(diverged_round(bad_input("{}", made.message).value())) << "a refusal is none";
}

}  // namespace
}  // namespace sotto::fl
