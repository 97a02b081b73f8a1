#pragma once
// Bonawitz et al. 2017 as one writes it down from the paper, to measure against: everybody masks with
// everybody, one mask after the other, each expanded into a vector of its own by libsodium's ChaCha20 and
// then added in a plain loop; the server keeps to one thread. The same words and the same key agreement,
// sharing and sealing as ours; no signatures.

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"

namespace sotto::bench {

struct TextbookTiming {
  double client_seconds = 0;  // processor time, mean over the clients
  double server_seconds = 0;
  std::vector<std::uint16_t> sum;
};

struct TextbookRound {
  std::uint32_t clients = 0;
  std::uint32_t threshold = 0;
  std::uint32_t lost = 0;  // the first so many share and then vanish
  std::size_t entries = 0;
};

// Entries are 16 bits wide. `input(client)` is called once per client that uploads.
Result<TextbookTiming> run_textbook(const TextbookRound& round,
                                    const std::function<std::vector<std::uint16_t>(std::uint32_t)>& input);

}  // namespace sotto::bench
