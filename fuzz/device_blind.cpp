// Any bytes as what blind serving parses: a guide, a question, an answer, and the file of the last answer.
// Refused, or taken for what they are, but no crash. With the top bit of the first byte set the rest are
// triples (place, byte) that replace bytes of a real one.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "blind/guide.h"
#include "blind/ring.h"
#include "device/sdk/blind_ranking.h"

namespace {

using namespace sotto;

std::string real_guide() {
  blind::Guide guide;
  guide.model = "model";
  guide.parameters = *blind::choose_parameters({4, 3, 2, 1});
  guide.centroids.assign(12, 0.5F);
  guide.steps.assign(3, 0.1F);
  for (const char* id : {"a", "b", "c", "d"}) guide.ids.push_back(id);
  guide.places = {0, 1, 2, blind::no_item, 3, 1};
  guide.hint.assign(2 * blind::ring_degree, 7);
  return *blind::encode_guide(guide);
}

std::string damaged(std::string bytes, const std::uint8_t* data, std::size_t size) {
  for (; size >= 3; data += 3, size -= 3)
    bytes[(data[0] + 256U * data[1]) % bytes.size()] = static_cast<char>(data[2]);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string guide = real_guide(),
                           query = blind::encode_query({std::string(64, 'a'), {1, 2, 3}}),
                           answer = blind::encode_answer({std::string(64, 'b'), {4, 5}});
  if (size == 0) return 0;
  const bool mends = (data[0] & 0x80U) != 0;
  const std::string raw(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto bytes = [&](const std::string& real) { return mends ? damaged(real, data + 1, size - 1) : raw; };
  switch (data[0] & 3U) {
    case 0: {
      const auto read = blind::decode_guide(bytes(guide));
      if (!read) break;
      // What is accepted keeps every promise: its ids are where they are said to be, and so are its items.
      if (*blind::decode_guide(*blind::encode_guide(*read)) != *read) std::abort();
      std::size_t letters = 0;
      for (std::size_t item = 0; item < read->ids.size(); ++item) letters += read->ids[item].size() + 1;
      if (letters != read->ids.text().size()) std::abort();
      for (const std::uint32_t item : read->places)
        if (item != blind::no_item && item >= read->ids.size()) std::abort();
      break;
    }
    case 1:
      if (const auto read = blind::decode_query(bytes(query));
          read && *blind::decode_query(blind::encode_query(*read)) != *read)
        std::abort();
      break;
    case 2:
      if (const auto read = blind::decode_answer(bytes(answer));
          read && *blind::decode_answer(blind::encode_answer(*read)) != *read)
        std::abort();
      break;
    default:
      if (const auto kept = device::decode_blind_answer_kept(raw); kept && encode(*kept) != raw) std::abort();
  }
  return 0;
}
