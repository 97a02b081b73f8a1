// Any bytes as a campaign, an order, a change of keys, a head, a cosignature, a proof or a frontier of the
// public log, as its records, as what devices and coordinators send each other, or as a blob: refused, or
// written back byte for byte the same.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "device/history/impression_store.h"
#include "device/history/row_store.h"
#include "rounds/enrolment.h"
#include "rounds/group_invitation.h"
#include "rounds/model_version.h"
#include "rounds/operator_keys.h"
#include "rounds/order.h"
#include "rounds/round_messages.h"

namespace {

template <class Value>
void same_again(const sotto::Result<Value>& value, std::string_view bytes) {
  if (value && encode(*value) != bytes) std::abort();
}

// For what refuses to write nonsense, and is read of an older form too: it says the same again.
template <class Value>
void same_blob_again(const sotto::Result<Value>& value, sotto::Result<Value> (*decode)(std::string_view)) {
  if (!value) return;
  const auto written = encode(*value);
  if (!written) std::abort();
  const auto again = decode(*written);
  if (!again || *again != *value) std::abort();
}

// Records of up to 255 bytes, each after its length.
void replay(std::string_view records) {
  sotto::rounds::PublicLog log({});
  while (!records.empty()) {
    const auto length = static_cast<unsigned char>(records.front());
    records.remove_prefix(1);
    const std::uint64_t size = log.tree().size();
    const bool taken = log.take(records.substr(0, length)).has_value();
    if (!taken && log.tree().size() != size) std::abort();
    records.remove_prefix(length < records.size() ? length : records.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sotto::rounds;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  same_again(decode_campaign(bytes), bytes);
  same_again(decode_order(bytes), bytes);
  same_again(decode_head(bytes), bytes);
  same_again(decode_cosignature(bytes), bytes);
  same_again(decode_inclusion(bytes), bytes);
  same_again(decode_proof(bytes), bytes);
  same_again(decode_group_invitation(bytes), bytes);
  same_again(decode_offer(bytes), bytes);
  same_again(decode_log_page(bytes), bytes);
  same_again(decode_check_in(bytes), bytes);
  same_again(decode_group_place(bytes), bytes);
  same_again(decode_enrolment(bytes), bytes);
  same_blob_again(decode_model(bytes), &decode_model);
  same_blob_again(decode_items(bytes), &decode_items);
  static_cast<void>(open_token(bytes));
  // Ids may be listed in any order, so a store of impressions has more than one encoding: what is read is
  // read the same again.
  if (const auto read = sotto::device::decode_impressions(bytes)) {
    const auto again = sotto::device::decode_impressions(encode(*read));
    if (!again || *again != *read) std::abort();
  }
  if (const auto read = sotto::device::decode_rows(bytes); read && encode(*read) != bytes) std::abort();
  if (const auto frontier = LogFrontier::decode(bytes); frontier && frontier->encode() != bytes) std::abort();
  if (const auto opened = open_campaign(bytes);
      opened && hash_of_body(campaign_kind, encode(opened->campaign)) != opened->hash)
    std::abort();
  if (const auto opened = open_order(bytes);
      opened && hash_of_body(order_kind, encode(opened->order)) != opened->hash)
    std::abort();
  if (const auto proof = decode_inclusion(bytes)) {
    sotto::rounds::Digest hash{};
    if (is_included(hash, *proof, proof->index, hash)) std::abort();  // an entry behind the last one
    static_cast<void>(is_included(hash, *proof, proof->index + 1, hash));
    static_cast<void>(is_consistent(proof->index, hash, proof->index + 7, hash, proof->path));
  }
  if (const auto opened = open_key_change(bytes)) {
    OperatorKeys keys(opened->change.replaced.front(), opened->change.after);
    const std::string before = keys.encode();
    if (!keys.follow(*opened, 1) && keys.encode() != before) std::abort();
  }
  if (const auto keys = OperatorKeys::decode(bytes); keys && keys->encode() != bytes) std::abort();
  replay(bytes);
  return 0;
}
