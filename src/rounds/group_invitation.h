#pragma once
// What a device hears when its group is complete: who is in it, and the invitation of secure aggregation.

#include "rounds/document.h"
#include "secagg/shared/parameters.h"

namespace sotto::rounds {

struct GroupInvitation {
  std::vector<IdentityKey> members;  // by index
  std::string invitation;            // as secagg/shared/messages.h encodes it
};
std::string encode(const GroupInvitation& invitation);
Result<GroupInvitation> decode_group_invitation(std::string_view bytes);

}  // namespace sotto::rounds
