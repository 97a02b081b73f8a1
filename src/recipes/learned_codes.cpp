#include "recipes/learned_codes.h"

#include <fmt/format.h>

#include "base/files.h"

namespace sotto {
namespace {

// FNV-1a over strings and where they end.
class Fingerprint {
 public:
  void add(std::string_view text) {
    for (const char letter : text) mix(static_cast<unsigned char>(letter));
    mix(0x100);  // no byte
  }
  void add(const StringColumn& texts) {
    for (std::size_t i = 0; i < texts.size(); ++i) add(texts[i]);
    mix(0x101);
  }
  std::string text() const { return fmt::format("{:016x}\n", value_); }

 private:
  void mix(std::uint64_t symbol) { value_ = (value_ ^ symbol) * 0x100000001b3ULL; }
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

}  // namespace

Status check_learned_codes(const fs::path& run, const Dataset& dataset, const ModelEntry& entry,
                           const KnownUsers& known) {
  const bool entities = entry.features.entities && dataset.catalogue().entity_dimension == 0;
  if (!entry.features.categories && !entities && !entry.user_ids()) return {};
  Fingerprint fingerprint;
  if (entry.features.categories) {
    fingerprint.add(dataset.catalogue().category_names);
    fingerprint.add(dataset.catalogue().subcategory_names);
  }
  if (entities) fingerprint.add(dataset.catalogue().entity_ids);
  for (const UserId user : known.users) fingerprint.add(dataset.user_ids()[user]);

  const fs::path stored = run / "codes.txt";
  if (!fs::exists(stored)) return write_file_atomically(stored, fingerprint.text());
  SOTTO_TRY(const auto text, read_file(stored, 64));
  if (text == fingerprint.text()) return {};
  return bad_input(
      "{} has learned rows for the categories, entities or users of the data it was trained on, and {} has "
      "others: evaluate it on its own data, or train a model that reads words alone, such as nrms",
      run.string(), dataset.name());
}

}  // namespace sotto
