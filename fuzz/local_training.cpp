// Any campaign settings, and any bytes as what a server sends to be trained on: refused, or trained to a
// finite update of the stated size, but no crash.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/random.h"
#include "local/local_trainer.h"

namespace {

using namespace sotto;

// Takes numbers from the front of the input; zeros behind its end.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  std::string text(std::size_t most) {
    std::string text;
    for (std::size_t length = byte() % (most + 1); text.size() < length && left_ > 0;)
      text.push_back(static_cast<char>(byte()));
    return text;
  }
  // Mostly small numbers, sometimes any bits.
  float number() {
    const std::uint8_t kind = byte();
    if (kind != 255) return static_cast<float>(kind - 128) / 64;
    std::uint32_t bits = 0;
    for (int i = 0; i < 4; ++i) bits = bits << 8 | byte();
    float number = 0;
    std::memcpy(&number, &bits, sizeof number);
    return number;
  }
  template <class T>
  std::vector<T> list(std::size_t most, std::uint8_t below) {
    std::vector<T> list(byte() % (most + 1));
    for (T& one : list) one = static_cast<T>(byte() % below);
    return list;
  }
  template <class T>
  std::vector<T> offsets(std::size_t rows, std::size_t end) {
    std::vector<T> offsets = {0};
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t next = offsets.back() + byte() % 4;
      offsets.push_back(static_cast<T>(byte() == 255 ? byte() : std::min(next, end)));
    }
    if (byte() != 255) offsets.back() = static_cast<T>(end);
    return offsets;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

using Settings = std::vector<std::pair<std::string, std::string>>;

// Sizes so small that a run ends soon.
Settings settings_of(const std::string& recipe) {
  if (recipe == "sotto") return {{"vector_size", "3"}, {"negatives", "2"}};
  if (recipe == "efficient-fedrec") return {{"heads", "1"}, {"head_size", "3"}, {"pooling_size", "2"}};
  if (recipe == "dp-svd") return {{"catalogue", "5"}, {"vectors", "2"}, {"items", "3"}};
  if (recipe.ends_with("privrec"))
    return {{"catalogue", "5"}, {"field_values", "2,3,2"}, {"user_fields", "1"}, {"context_fields", "1"},
            {"hidden", "2"},    {"embedding", "2"},        {"layers", "1"},      {"local_epochs", "2"}};
  return {{"heads", "1"}, {"head_size", "3"}, {"pooling_size", "2"}, {"word_size", "2"}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const auto recipes = local::recipes_with_trainers();
  const std::string& recipe = recipes[bytes.byte() % recipes.size()];
  Settings settings = settings_of(recipe);
  const std::size_t sure = settings.size();
  while (settings.size() < sure + 4 && bytes.byte() % 4 == 1) {
    std::string name = bytes.text(16);
    settings.emplace_back(std::move(name), bytes.text(16));
  }
  // Settings that are understood may ask for any size: only the small ones are trained.
  static_cast<void>(local::find_trainer(recipe, settings));
  settings.resize(sure);
  const auto trainer = std::move(*local::find_trainer(recipe, settings));

  std::vector<float> parameters(trainer->layout().size() + (bytes.byte() == 255 ? 1 : 0));
  for (float& parameter : parameters) parameter = bytes.number();
  std::vector<float> items(15), words(8);
  for (auto* table : {&items, &words})
    for (float& number : *table) number = bytes.number();
  const auto title_words = bytes.list<std::uint32_t>(12, bytes.byte() == 255 ? 200 : 4);
  const auto title_offsets = bytes.offsets<std::uint64_t>(5, title_words.size());
  const auto codes = bytes.list<std::uint32_t>(12, bytes.byte() == 255 ? 200 : 2);
  const auto item_offsets = bytes.offsets<std::uint64_t>(5, codes.size());

  local::OwnEvents own;
  const auto history = bytes.list<std::uint32_t>(6, 5), shown = bytes.list<std::uint32_t>(6, 6);
  auto clicked = bytes.list<std::uint8_t>(6, 2);
  if (bytes.byte() != 255) clicked.resize(shown.size());
  own.impressions = {{history, shown, clicked}, {{}, shown, clicked}};
  for (const std::uint32_t item : bytes.list<std::uint32_t>(8, 6))
    own.rows.push_back({item, bytes.byte() % 2 == 0});
  const auto user_offsets = bytes.offsets<std::uint64_t>(1, codes.size());
  const auto context_offsets = bytes.offsets<std::uint64_t>(own.rows.size(), codes.size());
  own.user_fields = {{user_offsets, codes}};
  own.context_fields = {{context_offsets, codes}};

  const local::RoundInputs inputs{parameters,
                                  {items.data(), 5, 3},
                                  {words.data(), 4, 2},
                                  {title_words, title_offsets},
                                  {{item_offsets, codes}},
                                  bytes.byte() % 3 + std::uint64_t{1}};
  SeededRandom draws(1, Purpose::test);
  int pieces = 0;
  const auto update = trainer->train(inputs, own, draws, [&] { return ++pieces > 1000; });
  const auto scores = trainer->rank(inputs, own, {history, shown, own.context_fields}, draws,
                                    [&] { return ++pieces > 1000; });
  if (scores && scores->size() != shown.size()) std::abort();
  if (!update) return 0;
  if (update->direction.size() != trainer->dimension(5, inputs.round) || !std::isfinite(update->loss))
    std::abort();
  for (const float number : update->direction)
    if (!std::isfinite(number)) std::abort();
  return 0;
}
