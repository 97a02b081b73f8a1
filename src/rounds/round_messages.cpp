#include "rounds/round_messages.h"

#include "secagg/shared/field_hash.h"

namespace sotto::rounds {

namespace {

// Proofs and heads travel in their own encodings.
template <class Fields>
void visit(Fields& fields, std::string& campaign, std::string& order, std::string& head,
           std::string& campaign_entry, std::string& model_entry) {
  for (std::string* part : {&campaign, &order, &head, &campaign_entry, &model_entry}) fields.long_blob(*part);
}

template <class Fields, class Page>
void visit_page(Fields& fields, Page& page) {
  fields.number(page.first);
  fields.list(page.entries, LogPage::most, [](auto& inner, auto& leaf) {
    inner.choice(leaf.kind, LeafKind::campaign, last_leaf_kind);
    inner.bytes(leaf.hash);
  });
}

template <class Fields, class Place>
void visit_place(Fields& fields, Place& place) {
  fields.bytes(place.room);
  fields.long_blob(place.invitation);
}

}  // namespace

std::string encode(const OfferMessage& offer) {
  FieldWriter fields;
  std::string campaign = offer.campaign, order = offer.order, head = encode(offer.head),
              campaign_entry = encode(offer.campaign_entry), model_entry = encode(offer.model_entry);
  visit(fields, campaign, order, head, campaign_entry, model_entry);
  return std::move(fields).take();
}

Result<OfferMessage> decode_offer(std::string_view bytes) {
  FieldReader fields(bytes);
  OfferMessage offer;
  std::string head, campaign_entry, model_entry;
  visit(fields, offer.campaign, offer.order, head, campaign_entry, model_entry);
  SOTTO_CHECK(fields.finish("offer of a round"));
  SOTTO_TRY(offer.head, decode_head(head));
  SOTTO_TRY(offer.campaign_entry, decode_inclusion(campaign_entry));
  SOTTO_TRY(offer.model_entry, decode_inclusion(model_entry));
  return offer;
}

std::string encode(const LogPage& page) {
  FieldWriter fields;
  visit_page(fields, page);
  return std::move(fields).take();
}

Result<LogPage> decode_log_page(std::string_view bytes) {
  FieldReader fields(bytes);
  LogPage page;
  visit_page(fields, page);
  SOTTO_CHECK(fields.finish("page of the log"));
  return page;
}

std::string encode(const CheckIn& check_in) {
  FieldWriter fields;
  fields.bytes(check_in.order);
  return std::move(fields).take();
}

Result<CheckIn> decode_check_in(std::string_view bytes) {
  FieldReader fields(bytes);
  CheckIn check_in;
  fields.bytes(check_in.order);
  SOTTO_CHECK(fields.finish("check-in"));
  return check_in;
}

std::string encode(const GroupPlace& place) {
  FieldWriter fields;
  visit_place(fields, place);
  return std::move(fields).take();
}

Result<GroupPlace> decode_group_place(std::string_view bytes) {
  FieldReader fields(bytes);
  GroupPlace place;
  visit_place(fields, place);
  SOTTO_CHECK(fields.finish("place in a group"));
  return place;
}

Digest request_statement(std::string_view method, std::string_view path, const Digest& body_hash) {
  return secagg::FieldHash("sotto request 1")
      .bytes(as_bytes(method))
      .bytes(as_bytes(path))
      .bytes(body_hash)
      .finish();
}

Result<Signature> signature_from_hex(std::string_view text) {
  Signature signature{};
  const std::size_t half = signature.size();
  if (text.size() != 2 * signature.size())
    return bad_input("a signature has {} hexadecimal digits, this has {}", 2 * half, text.size());
  for (std::size_t part = 0; part < 2; ++part) {
    SOTTO_TRY(const Digest bytes, digest_from_hex(text.substr(part * half, half), "a signature"));
    for (std::size_t i = 0; i < bytes.size(); ++i) signature[part * bytes.size() + i] = bytes[i];
  }
  return signature;
}

}  // namespace sotto::rounds
