#pragma once
// Packs and their differences as bytes (proto/serving.fbs). One pack has exactly one encoding, and its
// version is the hash of those bytes: what the server sends as ETag, and what a delta must arrive at.
//
// Decoding trusts nothing: structure, sizes, order and every number are checked before anything is returned.

#include <string>
#include <string_view>

#include "device/pack/device_pack.h"

namespace sotto::device {

constexpr std::size_t max_pack_bytes = std::size_t{1} << 30;

// Checks the pack first.
Result<std::string> encode_pack(const DevicePack& pack);
Result<DevicePack> decode_pack(std::string_view bytes);

// 64 hexadecimal digits.
Result<std::string> pack_version(std::string_view bytes);

// Removed and added items between two packs of the same model. An error when they differ in anything else:
// send the whole pack then.
Result<std::string> encode_delta(std::string_view old_bytes, std::string_view new_bytes);
// The bytes of the later pack. An error when the delta is not for these bytes, or does not lead where it
// says.
Result<std::string> apply_delta(std::string_view old_bytes, std::string_view delta);

}  // namespace sotto::device
