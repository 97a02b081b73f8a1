#include "cli/pool_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/binary_file.h"
#include "data/dataset.h"

namespace sotto::cli {

using nlohmann::json;

namespace {

// Marks kept of a catalogue: those with the smallest hashes, which are a fair draw and the same for
// everybody.
constexpr std::size_t kept_marks = 256;
// Logs grow and old items leave them, so that part of the marks suffices; other shops share none.
constexpr std::size_t one_in = 4;

// The folder of a server that was killed before it had filled anything holds nobody's items.
bool has_items(const fs::path& pool) {
  std::error_code missing;
  for (fs::directory_iterator entry(pool, missing), end; !missing && entry != end; entry.increment(missing))
    if (entry->path().filename().string().starts_with("catalogue-")) return true;
  return false;
}

std::uint64_t mark_of(std::string_view id, std::string_view words) {
  std::string text(id);
  text += '\0';
  text += words;
  return binary_format::checksum(std::as_bytes(std::span(text)));
}

}  // namespace

ServedData made_up_data() { return {"made-up items", "made up", {}}; }

Result<PoolItems> PoolItems::open(const fs::path& pool, bool same_items) {
  PoolItems items(pool, same_items);
  if (!fs::exists(items.file()) || !has_items(pool)) return items;
  SOTTO_TRY(items.noted_, items.read());
  return items;
}

Result<PoolItems::Note> PoolItems::read() const {
  SOTTO_TRY(const std::string text, read_file(file(), 1 << 20));
  const json stored = json::parse(text, nullptr, false);
  const auto numbers = [](const json& list) {
    return std::all_of(list.begin(), list.end(), [](const json& mark) { return mark.is_number_unsigned(); });
  };
  try {
    if (stored.is_object() && numbers(stored.at("marks")))
      return Note{stored.at("dataset").get<std::string>(), stored.at("fingerprint").get<std::string>(),
                  stored.at("marks").get<std::vector<std::uint64_t>>(), stored.at("filled").get<bool>()};
  } catch (const json::exception&) {  // told below
  }
  return bad_input(
      "{} does not say whose items these are: was it changed by hand? Where they are those of the run, "
      "remove "
      "this file",
      file().string());
}

// Of items without words an id says little: every shop has a number 7.
Result<std::vector<std::uint64_t>> PoolItems::all_marks(const fs::path& dataset) {
  if (dataset.empty()) return std::vector<std::uint64_t>();
  auto opened = data::Dataset::open(dataset);
  if (!opened)
    return tl::unexpected(
        std::move(opened).error().in("the data of the run (name another place with --data DIR)"));
  const data::Catalogue& catalogue = opened->catalogue();
  std::vector<std::uint64_t> marks;
  for (std::size_t item = 0; item < catalogue.size(); ++item) {
    const std::string_view title = catalogue.titles[item],
                           words = title.empty() ? catalogue.abstracts[item] : title;
    if (catalogue.is_public[item] != 0 && !words.empty())
      marks.push_back(mark_of(catalogue.ids[item], words));
  }
  std::sort(marks.begin(), marks.end());
  return marks;
}

Status PoolItems::check(const ServedData& data, const std::vector<std::uint64_t>& marks) const {
  if (!noted_ || same_items_) return {};
  const auto shared =
      static_cast<std::size_t>(std::count_if(noted_->marks.begin(), noted_->marks.end(), [&](auto mark) {
        return std::binary_search(marks.begin(), marks.end(), mark);
      }));
  if (shared > 0 && shared * one_in >= noted_->marks.size()) return {};
  return bad_input(
      "{} was filled with the items of '{}' (fingerprint {}), and the model to serve is of '{}' (fingerprint "
      "{}){}: name another --catalogue, or say --same-items if these are the same items all the same",
      pool_.string(), noted_->dataset, noted_->fingerprint, data.name, data.fingerprint,
      noted_->marks.empty() || marks.empty()
          ? ", whose items have no words to compare"
          : fmt::format(", which knows {} of {} of them by the same id and words", shared,
                        noted_->marks.size()));
}

Status PoolItems::accept(const ServedData& data) {
  if (accepted_ && accepted_->fingerprint == data.fingerprint) return {};
  if (noted_ && noted_->fingerprint == data.fingerprint) {
    accepted_ = noted_;
    return {};
  }
  SOTTO_TRY(std::vector<std::uint64_t> marks, all_marks(data.folder));
  SOTTO_CHECK(check(data, marks));
  marks.resize(std::min(marks.size(), kept_marks));
  accepted_ = Note{data.name, data.fingerprint, std::move(marks), false};
  return {};
}

Status PoolItems::note(bool filled) {
  if (!accepted_) return {};
  accepted_->filled = filled;
  if (noted_ && noted_->fingerprint == accepted_->fingerprint && noted_->filled == filled) return {};
  const json text = {{"dataset", accepted_->dataset},
                     {"fingerprint", accepted_->fingerprint},
                     {"marks", accepted_->marks},
                     {"filled", filled}};
  SOTTO_CHECK(write_file_atomically(file(), text.dump() + "\n"));
  noted_ = accepted_;
  return {};
}

}  // namespace sotto::cli
