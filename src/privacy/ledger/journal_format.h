#pragma once
// The bytes of a ledger file, and how damage is told from an interrupted write.
//
//   file    header, frame, frame, ...
//   header  "SOTTOLED", version (4 bytes), 4 zero bytes, ledger id (16), xxh3 of those (8)
//   frame   body length (4), xxh3 of the length and the hash before (8), body, hash (32)
//   hash    BLAKE2b-256 of the hash before, length, check and body; before the first frame: of the header
//
// The length has its own check so that a flipped bit in it cannot pass for an interrupted write, and the hash
// comes last so that it is there only if all of the frame is. An append that was interrupted leaves a prefix
// of a frame, or, after a power failure, zeros where the end should be: nothing of it was ever receipted, and
// it may be cut off. Everything else is damage. Pure functions.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "privacy/ledger/chain_hash.h"

namespace sotto::journal_format {

using LedgerId = std::array<unsigned char, 16>;

constexpr std::size_t header_bytes = 40;
constexpr std::size_t frame_head_bytes = 12;
constexpr std::size_t max_body_bytes = std::size_t{1} << 20;
constexpr std::uint64_t max_file_bytes = std::uint64_t{1} << 30;

struct Journal {
  LedgerId id{};
  std::vector<std::string_view> bodies;  // into the parsed bytes
  std::vector<ChainHash> hashes;         // one per body
  std::uint64_t complete_bytes = 0;      // up to the end of the last complete frame
  std::uint64_t torn_bytes = 0;          // of an interrupted append behind it
};

std::string encode_header(const LedgerId& id);
Result<ChainHash> hash_of_header(std::string_view header);

struct Frame {
  std::string bytes;
  ChainHash hash;  // the new end of the chain
};
Result<Frame> encode_frame(std::string_view body, const ChainHash& before);

// Creation is atomic, so at least one complete frame must be there.
Result<Journal> parse(std::string_view file);

}  // namespace sotto::journal_format
