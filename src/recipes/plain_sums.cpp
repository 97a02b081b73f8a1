#include "recipes/plain_sums.h"

#include <fmt/format.h>

namespace sotto {

PrivacyDatasheet plain_sums_datasheet(std::int64_t group) {
  PrivacyDatasheet sheet;
  sheet.recipe = "efficient-fedrec";
  sheet.mode = "paper";
  sheet.mechanism =
      fmt::format("secure sums over {} devices, of the items they hold and of gradients; no noise", group);
  sheet.sampling = "the server picks and sees the group: nothing is gained by sampling";
  sheet.composition = "none: nothing holds for a single round";
  sheet.server_sees = {"who takes part in which round", "which items a group holds together",
                       "the sum of a group's gradients, and nothing of a single device"};
  sheet.not_protected = {
      "items that one device of a group holds alone, which are most of them: the sum is that device's "
      "gradient",
      "a device in a group whose other devices all work with the server"};
  return sheet;
}

}  // namespace sotto
