#pragma once
// What travels between a device and a coordinator around the messages of secure aggregation. One encoding
// each, as the documents have: what is signed is what is parsed.
//
//   GET  /v1/campaign           the campaign, so that people can be asked before anything else
//   GET  /v1/order              OfferMessage
//   GET  /v1/log?from=N         LogPage: the entries behind the first N
//   GET  /v1/blob/HASH          what the hash names
//   POST /v1/enrol              Enrolment (rounds/enrolment.h)
//   POST /v1/checkin            CheckIn; answered by GroupPlace as soon as a group is complete
//   POST /v1/rounds/ROOM/PHASE  a message of secure aggregation; answered by the next one
//
// Posts behind the enrolment are signed by the device over method, path and the hash of the body, which
// stands in the head: whose request it is, is known before its body is read. 202 says: send the same again.

#include "rounds/model_version.h"
#include "rounds/order.h"

namespace sotto::rounds {

struct OfferMessage {
  std::string campaign, order;  // documents
  SignedHead head;
  InclusionProof campaign_entry, model_entry;
};
std::string encode(const OfferMessage& offer);
Result<OfferMessage> decode_offer(std::string_view bytes);

struct LogPage {
  static constexpr std::size_t most = 1000;  // 33 kB for whoever asks
  std::uint64_t first = 0;
  std::vector<LogLeaf> entries;
};
std::string encode(const LogPage& page);
Result<LogPage> decode_log_page(std::string_view bytes);

struct CheckIn {
  Digest order{};  // hash of the document
};
std::string encode(const CheckIn& check_in);
Result<CheckIn> decode_check_in(std::string_view bytes);

struct GroupPlace {
  Digest room{};           // where the group meets
  std::string invitation;  // rounds/group_invitation.h
};
std::string encode(const GroupPlace& place);
Result<GroupPlace> decode_group_place(std::string_view bytes);

// What a device signs of a request.
Digest request_statement(std::string_view method, std::string_view path, const Digest& body_hash);
inline Digest request_statement(std::string_view method, std::string_view path, std::string_view body) {
  return request_statement(method, path, blob_hash(body));
}
inline constexpr std::string_view device_header = "Sotto-Device", signature_header = "Sotto-Signature",
                                  body_header = "Sotto-Body";  // SHA-256, hexadecimal as the others
// 64 bytes as hexadecimal digits.
Result<Signature> signature_from_hex(std::string_view text);

}  // namespace sotto::rounds
