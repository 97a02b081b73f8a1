// Any bytes as what a server and its trainer tell each other: refused, or written back byte for byte the
// same.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cli/encoder_process.h"
#include "cli/fold_process.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sotto::cli;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto articles = parse_articles(bytes); articles && articles_body(*articles) != bytes)
    std::abort();
  if (const auto vectors = parse_vectors(bytes); vectors && vectors_body(*vectors) != bytes) std::abort();
  if (const auto task = parse_task(bytes)) {
    const std::string again = task_body(*task);
    if (task_body(*parse_task(again)) != again) std::abort();
  }
  if (const auto sums = parse_sums(bytes); sums && sums_body(*sums) != bytes) std::abort();
  if (const auto round = parse_folded_round(bytes)) {
    // Not-a-number has many bit patterns, and a flag many bytes: what is read is read the same again.
    const std::string again = folded_round_body(*round);
    if (folded_round_body(*parse_folded_round(again)) != again) std::abort();
  }
  if (const auto model = parse_folded_model(bytes)) {
    // A table of items may be of an older form.
    const auto again = folded_model_body(*model);
    if (!again || *folded_model_body(*parse_folded_model(*again)) != *again) std::abort();
  }
  return 0;
}
