#include "device/history/history_store.h"

#include <algorithm>
#include <unordered_map>

#include "base/binary_file.h"

namespace sotto {

namespace {

constexpr std::string_view kKind = "clicks";
constexpr std::uint32_t kVersion = 1;

}  // namespace

Result<HistoryStore> HistoryStore::open(const fs::path& path, std::size_t cap_per_category) {
  if (cap_per_category == 0) return bad_input("a history keeps at least one click per category");
  HistoryStore store(path, cap_per_category);
  std::error_code unreadable;
  if (!fs::exists(path, unreadable) && !unreadable) return store;
  SOTTO_TRY(const auto file, BinaryFileReader::open(path, kKind, kVersion));
  SOTTO_TRY(const std::string_view bytes, file.text("clicks"));
  auto clicks = decode_clicks(bytes);
  if (!clicks) return tl::unexpected(std::move(clicks).error().in(path.string()));
  store.clicks_ = std::move(*clicks);
  return store;
}

Status HistoryStore::write(std::vector<StoredClick> clicks) {
  SOTTO_TRY(auto file, BinaryFileWriter::create(path_, kKind, kVersion));
  SOTTO_CHECK(file.add_text("clicks", encode(clicks)));
  SOTTO_CHECK(file.commit());
  clicks_ = std::move(clicks);
  return {};
}

Status HistoryStore::add(const DevicePack& pack, std::string_view item, UtcTime now) {
  SOTTO_CHECK(validate(now));
  const PackItems& items = pack.items;
  const auto found = std::find(items.ids.begin(), items.ids.end(), item);
  if (found == items.ids.end())
    return bad_input("the pack does not have the item \"{}\": fetch the newest pack", item);
  const auto row = static_cast<std::size_t>(found - items.ids.begin());
  StoredClick click;
  click.item = item;
  if (items.categories[row] != kNoCategory) click.category = pack.categories[items.categories[row]];
  click.time = now;
  click.model = pack.model;
  click.scale = items.vectors.scales[row];
  const auto numbers = std::span(items.vectors.data).subspan(row * pack.dimension, pack.dimension);
  click.numbers.assign(numbers.begin(), numbers.end());

  std::vector<StoredClick> clicks = clicks_;
  std::erase_if(clicks, [&](const StoredClick& other) { return other.item == item; });
  const auto same_category = [&](const StoredClick& other) { return other.category == click.category; };
  auto excess =
      std::count_if(clicks.begin(), clicks.end(), same_category) + 1 - static_cast<std::ptrdiff_t>(cap_);
  std::erase_if(clicks, [&](const StoredClick& other) { return same_category(other) && excess-- > 0; });
  clicks.push_back(std::move(click));
  return write(std::move(clicks));
}

Status HistoryStore::clear() { return write({}); }

ReadableHistory HistoryStore::readable(const DevicePack& pack, const SensitivitySettings& sensitivity) const {
  std::unordered_map<std::string_view, std::size_t> rows;
  for (std::size_t i = 0; i < pack.items.size(); ++i) rows.emplace(pack.items.ids[i], i);
  ReadableHistory history;
  std::vector<float> vector(pack.dimension);
  for (const StoredClick& click : clicks_) {
    if (const auto live = rows.find(click.item); live != rows.end()) {
      pack.items.vectors.floats_of_row(live->second, vector);
    } else if (click.model == pack.model && click.numbers.size() == pack.dimension) {
      for (std::size_t i = 0; i < vector.size(); ++i)
        vector[i] = click.scale * static_cast<float>(click.numbers[i]);
    } else {
      continue;
    }
    CategorisedClick categorised{history.clicks.size(), {}};
    if (const auto category = sensitivity.find(click.category)) categorised.categories.push_back(*category);
    history.clicks.push_back(std::move(categorised));
    history.vectors.insert(history.vectors.end(), vector.begin(), vector.end());
  }
  return history;
}

}  // namespace sotto
