// Any bytes as a campaign, an order, a head, a cosignature, a proof or a frontier of the public log, or as
// its records: refused, or written back byte for byte the same.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "rounds/group_invitation.h"
#include "rounds/order.h"

namespace {

template <class Value>
void same_again(const sotto::Result<Value>& value, std::string_view bytes) {
  if (value && encode(*value) != bytes) std::abort();
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
  same_again(decode_group_invitation(bytes), bytes);
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
  replay(bytes);
  return 0;
}
