#include "data/interaction_columns.h"

#include <cmath>

#include "data/dataset_sections.h"
#include "data/user_order.h"

namespace sotto {

namespace sections = dataset_sections;

Status InteractionColumns::add(UserId user, ItemId item, float rating, std::int64_t time) {
  if (std::isinf(rating)) return bad_input("the rating of an interaction is infinite; leave it out instead");
  users_.push_back(user);
  items_.push_back(item);
  ratings_.push_back(rating);
  times_.push_back(time);
  return {};
}

Status InteractionColumns::write(BinaryFileWriter& writer, std::size_t user_count) const {
  const UserOrder order = order_by_user_and_time(users_, times_, user_count);
  SOTTO_CHECK(writer.add(sections::interaction_user_offsets, order.user_offsets));
  SOTTO_CHECK(writer.add(sections::interaction_items, in_order(items_, order.rows)));
  SOTTO_CHECK(writer.add(sections::interaction_ratings, in_order(ratings_, order.rows)));
  SOTTO_CHECK(writer.add(sections::interaction_times, in_order(times_, order.rows)));
  return context_.write(writer, sections::context_features, size(), order.rows);
}

}  // namespace sotto
