#pragma once
// What a private recipe may see of a data set. A guarantee for one user is worth nothing when the shape of
// the model, or somebody else's rows, tell of that user. So the public part holds
//   items       that the public catalogue names, with what it says of them; rows lose all others
//   features    of users and rows whose values are a declared list; any other value is "(other)"
//   rows        of each user as that user's device has them
// and everything but a user's own rows is the same whoever the others are.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"

namespace sotto::data {

inline constexpr std::string_view undeclared_value = "(other)";

struct PublicPart {
  Dataset dataset;
  // For whoever holds the data, not to be published: they follow from what users did.
  std::uint64_t items_left_out = 0;
  std::vector<std::string> columns_left_out;  // features without declared values
};

// Copies what differs; the rest is shared with the source, which may go. Refuses data whose catalogue names
// no item, with advice. Items and users keep their order.
Result<PublicPart> public_part(const Dataset& source);

// The items without any user: what a coordinator may know. Of features of users and rows the declared values
// stay, without a row. Shares memory with the source, which may go.
Dataset catalogue_alone(const Dataset& source);

// Refuses data whose training rows were drawn, or cut from the test rows, by what all users did, with advice.
Status check_rows_are_each_users_own(const Dataset& dataset);

// Whether public_part() would leave nothing out.
bool is_public_part(const Dataset& dataset);

}  // namespace sotto::data
