#include "blind/guide.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/chain_hash.h"
#include "base/utf8.h"
#include "blind/ring.h"
#include "proto/blind_generated.h"

namespace sotto::blind {

namespace {

constexpr std::uint32_t guide_format = 2;
constexpr const char* blind_identifier = "SOBL";
constexpr std::size_t version_digits = 64;
constexpr std::size_t body_overhead = 256;  // tables and the version
constexpr std::size_t max_body_words = ShapeLimits::columns * ShapeLimits::probes;

// FlatBuffers are read in place at addresses that are multiples of eight.
class Aligned {
 public:
  explicit Aligned(std::string_view bytes) : size_(bytes.size()), words_(bytes.size() / 8 + 1) {
    if (!bytes.empty()) std::memcpy(words_.data(), bytes.data(), bytes.size());
  }
  template <class Table>
  const Table* root() const {
    const auto* data = reinterpret_cast<const std::uint8_t*>(words_.data());
    flatbuffers::Verifier verifier(data, size_);
    return verifier.VerifyBuffer<Table>(blind_identifier) ? flatbuffers::GetRoot<Table>(data) : nullptr;
  }

 private:
  std::size_t size_;
  std::vector<std::uint64_t> words_;
};

template <class T>
std::vector<T> copy(const flatbuffers::Vector<T>& numbers) {
  std::vector<T> copied(numbers.size());
  if (!copied.empty()) std::memcpy(copied.data(), numbers.Data(), copied.size() * sizeof(T));
  return copied;
}

std::string bytes_of(const flatbuffers::FlatBufferBuilder& builder) {
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

Status check_version(std::string_view version) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (version.size() == version_digits && std::all_of(version.begin(), version.end(), is_digit)) return {};
  return bad_input("a guide is named by {} hexadecimal digits", version_digits);
}

template <class Table>
Result<BlindWords> decode_words(std::string_view bytes, const char* what) {
  if (bytes.size() > body_bytes(max_body_words)) return bad_input("the {} is too large", what);
  const Aligned aligned(bytes);
  const auto* table = aligned.root<Table>();
  if (table == nullptr) return bad_input("the body is not a {}", what);
  const std::string_view version(table->guide()->c_str(), table->guide()->size());
  SOTTO_CHECK(check_version(version));
  BlindWords decoded;
  decoded.guide.assign(version);
  decoded.words = copy(*table->words());
  return decoded;
}

template <class Create>
std::string encode_words(const BlindWords& words, Create create) {
  flatbuffers::FlatBufferBuilder builder(body_bytes(words.words.size()));
  const auto guide = builder.CreateString(words.guide);
  const auto numbers = builder.CreateVector(words.words);
  builder.Finish(create(builder, guide, numbers), blind_identifier);
  return bytes_of(builder);
}

}  // namespace

void ItemIds::push_back(std::string_view id) {
  text_ += id;
  ends_.push_back(static_cast<std::uint32_t>(text_.size()));
  text_ += '\n';
}

Result<ItemIds> ItemIds::from(std::string_view text, std::size_t most) {
  ItemIds ids;
  ids.text_ = text;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return bad_input("the guide's last id has no end");
    if (ids.ends_.size() == most)
      return bad_input("the guide has more than {} ids, one for every slot", most);
    const std::string_view id = text.substr(begin, end - begin);
    if (id.empty() || id.size() > max_id_bytes || !is_printable(id))
      return bad_input("the guide has an id that is not 1 to {} bytes of printable UTF-8", max_id_bytes);
    ids.ends_.push_back(static_cast<std::uint32_t>(end));
    begin = end + 1;
  }
  return ids;
}

Status check(const Guide& guide) {
  SOTTO_CHECK(check(guide.parameters));
  const Shape& shape = guide.parameters.shape;
  if (guide.model.empty() || guide.model.size() > max_id_bytes || !is_printable(guide.model))
    return bad_input("the guide does not name its model by 1 to {} bytes of printable UTF-8", max_id_bytes);
  if (guide.centroids.size() != shape.columns() || guide.steps.size() != shape.clusters ||
      guide.places.size() != shape.slots() || guide.hint.size() != shape.rows * ring_degree) {
    return bad_input("the guide's parts do not have the sizes of {} clusters of {} slots", shape.clusters,
                     shape.rows);
  }
  const auto finite = [](float number) { return std::isfinite(number); };
  if (!std::all_of(guide.centroids.begin(), guide.centroids.end(), finite) ||
      !std::all_of(guide.steps.begin(), guide.steps.end(),
                   [&](float step) { return finite(step) && step > 0; }))
    return bad_input("the guide has centroids or steps that are not finite, or steps that are not positive");
  if (!std::all_of(guide.places.begin(), guide.places.end(),
                   [&](std::uint32_t item) { return item == no_item || item < guide.ids.size(); }))
    return bad_input("the guide has a slot with an item beyond its {} ids", guide.ids.size());
  return {};
}

Result<std::string> encode_guide(const Guide& guide) {
  SOTTO_CHECK(check(guide));
  const Parameters& parameters = guide.parameters;
  const Shape& shape = parameters.shape;
  flatbuffers::FlatBufferBuilder builder(guide.hint.size() * sizeof(std::uint32_t) + (1U << 16U));
  const auto model = builder.CreateString(guide.model);
  const auto centroids = builder.CreateVector(guide.centroids);
  const auto steps = builder.CreateVector(guide.steps);
  const auto ids = builder.CreateString(guide.ids.text());
  const auto places = builder.CreateVector(guide.places);
  const auto hint = builder.CreateVector(guide.hint);
  builder.Finish(wire::CreateBlindGuide(builder, guide_format, model, shape.dimension, shape.clusters,
                                        shape.rows, shape.probes, parameters.item_norm, parameters.user_norm,
                                        parameters.step_bits, centroids, steps, ids, places, hint),
                 blind_identifier);
  if (builder.GetSize() > max_guide_bytes)
    return bad_input("the guide has {} bytes, at most {} are sent: serve fewer items", builder.GetSize(),
                     max_guide_bytes);
  return bytes_of(builder);
}

Result<Guide> decode_guide(std::string_view bytes) {
  if (bytes.size() > max_guide_bytes) return bad_input("the guide has more than {} bytes", max_guide_bytes);
  const Aligned aligned(bytes);
  const auto* table = aligned.root<wire::BlindGuide>();
  if (table == nullptr) return bad_input("these bytes are not a guide, or are damaged: fetch it again");
  if (table->format() != guide_format)
    return bad_input("the guide has format {}, this device reads {}: update the device", table->format(),
                     guide_format);
  Guide guide;
  guide.model = table->model()->str();
  guide.parameters = {{table->dimension(), table->clusters(), table->rows(), table->probes()},
                      table->item_norm(),
                      table->user_norm(),
                      table->step_bits()};
  SOTTO_CHECK(check(guide.parameters));
  SOTTO_TRY(guide.ids,
            ItemIds::from({table->ids()->c_str(), table->ids()->size()}, guide.parameters.shape.slots()));
  guide.centroids = copy(*table->centroids());
  guide.steps = copy(*table->steps());
  guide.places = copy(*table->places());
  guide.hint = copy(*table->hint());
  SOTTO_CHECK(check(guide));
  return guide;
}

Result<std::string> guide_version(std::string_view bytes) {
  SOTTO_TRY(const ChainHash hash, chain_hash({"sotto blind guide", bytes}));
  return to_hex(hash);
}

std::size_t body_bytes(std::size_t words) { return words * sizeof(std::uint32_t) + body_overhead; }

std::string encode_query(const BlindWords& query) {
  return encode_words(query, [](auto& builder, auto guide, auto words) {
    return wire::CreateBlindQuery(builder, guide, words);
  });
}
Result<BlindWords> decode_query(std::string_view bytes) {
  return decode_words<wire::BlindQuery>(bytes, "BlindQuery");
}

std::string encode_answer(const BlindWords& answer) {
  return encode_words(answer, [](auto& builder, auto guide, auto words) {
    return wire::CreateBlindAnswer(builder, guide, words);
  });
}
Result<BlindWords> decode_answer(std::string_view bytes) {
  return decode_words<wire::BlindAnswer>(bytes, "BlindAnswer");
}

}  // namespace sotto::blind
