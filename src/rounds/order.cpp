#include "rounds/order.h"

#include <cmath>

#include "base/chain_hash.h"

namespace sotto::rounds {

namespace {

template <class Fields, class Document>
void visit_order(Fields& fields, Document& order) {
  fields.bytes(order.round);
  fields.number(order.number);
  fields.bytes(order.campaign);
  fields.bytes(order.model);
  fields.real(order.bound);
  visit_head(fields, order.head);
  fields.time(order.expires);
  fields.last_mark(order.evaluates);  // behind what orders of training have always had
}

}  // namespace

std::string encode(const RoundOrder& order) {
  FieldWriter fields;
  visit_order(fields, order);
  return std::move(fields).take();
}

Result<RoundOrder> decode_order(std::string_view body) {
  FieldReader fields(body);
  RoundOrder order;
  visit_order(fields, order);
  SOTTO_CHECK(fields.finish("order"));
  return order;
}

Status check_order(const RoundOrder& order, const OpenedCampaign& campaign) {
  if (order.campaign != campaign.hash)
    return bad_input("the order is of campaign {}, and this one is {}", to_hex(order.campaign),
                     to_hex(campaign.hash));
  if (order.evaluates && !campaign.campaign.evaluation)
    return bad_input("the order measures a version, and its campaign asks for no such thing");
  if ((order.number == 0 && !order.evaluates) || order.number > campaign.campaign.rounds)
    return bad_input("round {} of a campaign of {} rounds", order.number, campaign.campaign.rounds);
  if (!(order.bound > 0 && std::isfinite(order.bound)))
    return bad_input("the clipping bound is {}, must be above 0", order.bound);
  if (order.evaluates && order.bound != 1)
    return bad_input("the clipping bound of an evaluation is {}, must be 1", order.bound);
  if (!campaign.campaign.follows_bound() && order.bound != 1)
    return bad_input("the clipping bound is {}, and the campaign's stays where it is: it must be 1",
                     order.bound);
  if (order.expires > campaign.campaign.valid_until)
    return bad_input("the order expires on {}, after its campaign, which ends on {}",
                     privacy::to_text(order.expires), privacy::to_text(campaign.campaign.valid_until));
  return {};
}

Result<std::string> sign_order(const RoundOrder& order, const OpenedCampaign& campaign, const Identity& key) {
  SOTTO_CHECK(check_order(order, campaign));
  if (key.public_key() != campaign.campaign.coordinator)
    return bad_input("the campaign's coordinator is {}: {} cannot sign its orders",
                     to_hex(campaign.campaign.coordinator), to_hex(key.public_key()));
  return sign_document(order_kind, encode(order), key);
}

Result<OpenedOrder> open_order(std::string_view bytes) {
  SOTTO_TRY(const SignedDocument document, read_document(order_kind, bytes));
  SOTTO_TRY(RoundOrder order, decode_order(document.body));
  return OpenedOrder{order, document.hash, document.signature};
}

}  // namespace sotto::rounds
