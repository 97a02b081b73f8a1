#include "rounds/group_invitation.h"

namespace sotto::rounds {

namespace {

template <class Fields, class Invitation>
void visit_invitation(Fields& fields, Invitation& invitation) {
  fields.list(invitation.members, secagg::max_group_clients,
              [](auto& inner, auto& key) { inner.bytes(key); });
  fields.blob(invitation.invitation);
}

}  // namespace

std::string encode(const GroupInvitation& invitation) {
  FieldWriter fields;
  visit_invitation(fields, invitation);
  return std::move(fields).take();
}

Result<GroupInvitation> decode_group_invitation(std::string_view bytes) {
  FieldReader fields(bytes);
  GroupInvitation invitation;
  visit_invitation(fields, invitation);
  SOTTO_CHECK(fields.finish("invitation to a group"));
  return invitation;
}

}  // namespace sotto::rounds
