// Opens hostile dataset files and, when one is accepted, reads everything in it. Inputs come in two forms:
// bytes of a file as they are, which mostly test the container, and edits of the sections of a valid file,
// written back with valid checksums, which reach every structural check behind it.

#include "data/dataset.h"

#include <fuzzer/FuzzedDataProvider.h>
#include <stdlib.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../tests/data/edited_sections.h"
#include "data/dataset_builder.h"
#include "data/describe.h"

namespace {

using namespace sotto;

// In memory where possible: each input writes a file. Removed when the process ends.
class Workplace {
 public:
  Workplace() {
    const bool shared_memory = std::filesystem::is_directory("/dev/shm");
    std::string name = shared_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string();
    name += "/sotto-fuzz-dataset-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) abort();
    path_ = name;
  }
  ~Workplace() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A valid dataset with a row in every kind of column.
data::EditedSections valid_sections(const std::filesystem::path& directory) {
  data::DatasetBuilder builder("fuzz", "seed");
  const std::vector<data::EntityMention> entities = {{"Q1", "one"}, {"Q2", "two"}};
  const std::array<std::string_view, 2> values = {"x", "y"};
  for (const std::string_view id : {"a", "b", "c"}) {
    const data::ItemId item = builder.add_item({.id = id,
                                                .title = "title",
                                                .abstract = "text",
                                                .category = id,
                                                .subcategory = id,
                                                .title_entities = entities});
    builder.set_item_category(item, "kind", values);
    builder.set_item_number(item, "size", 1);
  }
  const std::array<float, 2> vector = {1, 2};
  if (!builder.set_entity_vector("Q1", vector)) abort();
  const std::array<data::ItemId, 3> items = {0, 1, 2};
  const std::array<std::uint8_t, 3> clicked = {1, 0, 0};
  const auto history = builder.add_history(items);
  const std::array<std::pair<std::string_view, std::string_view>, 1> context = {{{"place", "home"}}};
  for (const std::string_view id : {"ann", "bob"}) {
    const data::UserId user = builder.user(id);
    builder.set_user_category(user, "group", values);
    builder.set_user_number(user, "age", 30);
    for (std::uint32_t time = 0; time < 3; ++time) {
      builder.add_impression(user, time, static_cast<data::Split>(time), history, time, items, clicked);
      builder.add_interaction(user, time, 4, time, context);
    }
  }
  if (!builder.write(directory)) abort();
  return data::EditedSections(directory);
}

void edit(data::EditedSection& section, FuzzedDataProvider& input) {
  switch (input.ConsumeIntegralInRange(0, 4)) {
    case 0:  // one element
      if (section.bytes.size() >= section.element_size) {
        const std::size_t rows = section.bytes.size() / section.element_size;
        const std::size_t row = input.ConsumeIntegralInRange<std::size_t>(0, rows - 1);
        const auto value = input.ConsumeIntegral<std::uint64_t>();
        std::memcpy(section.bytes.data() + row * section.element_size, &value, section.element_size);
      }
      break;
    case 1:  // a small number somewhere: often still in range elsewhere
      if (section.bytes.size() >= section.element_size) {
        const std::size_t rows = section.bytes.size() / section.element_size;
        const std::size_t row = input.ConsumeIntegralInRange<std::size_t>(0, rows - 1);
        const std::uint64_t value = input.ConsumeIntegralInRange(0, 8);
        std::memcpy(section.bytes.data() + row * section.element_size, &value, section.element_size);
      }
      break;
    case 2:  // another length
      section.bytes.resize(input.ConsumeIntegralInRange<std::size_t>(0, 64) * section.element_size);
      break;
    case 3:  // other contents
      section.bytes = input.ConsumeBytes<std::uint8_t>(input.ConsumeIntegralInRange<std::size_t>(0, 128));
      break;
    default:  // another element size
      section.element_size = std::size_t{1} << input.ConsumeIntegralInRange(0, 3);
      break;
  }
}

// Adds up everything a reader can reach, so that the sanitizers see each access.
std::uint64_t walk_features(const data::Features& features, std::size_t rows) {
  std::uint64_t sum = 0;
  for (const data::CategoricalFeature& feature : features.categorical) {
    if (features.find_categorical(feature.name) != &feature) abort();
    for (std::size_t row = 0; row < rows; ++row) {
      for (const std::uint32_t code : feature.codes[row]) sum += feature.names[code].size();
    }
  }
  for (const data::NumericFeature& feature : features.numeric) {
    for (std::size_t row = 0; row < rows; ++row) sum += feature.values[row] > 0 ? 1 : 0;
  }
  return sum;
}

std::uint64_t walk_items(const data::Catalogue& catalogue) {
  std::uint64_t sum = walk_features(catalogue.features, catalogue.size());
  for (std::size_t item = 0; item < catalogue.size(); ++item) {
    for (const data::StringColumn* column : {&catalogue.ids, &catalogue.titles, &catalogue.abstracts}) {
      for (const char character : (*column)[item]) sum += static_cast<unsigned char>(character);
    }
    sum += catalogue.category_names[catalogue.categories[item]].size();
    sum += catalogue.subcategory_names[catalogue.subcategories[item]].size();
    for (const auto* mentions : {&catalogue.title_entities, &catalogue.abstract_entities}) {
      for (const std::size_t entity : (*mentions)[item]) {
        sum += catalogue.entity_ids[entity].size() + catalogue.entity_labels[entity].size();
        for (std::size_t place = 0; place < catalogue.entity_dimension; ++place) {
          sum += catalogue.entity_vectors[entity * catalogue.entity_dimension + place] > 0 ? 1 : 0;
        }
      }
    }
  }
  return sum;
}

std::uint64_t walk_behaviour(const data::Dataset& dataset) {
  std::uint64_t sum = walk_features(dataset.interactions().context, dataset.interactions().size());
  const data::StringColumn& ids = dataset.catalogue().ids;
  for (data::UserId user = 0; user < dataset.user_count(); ++user) {
    sum += dataset.user_ids()[user].size();
    const auto [first, last] = dataset.impressions_of(user);
    for (std::size_t index = first; index < last; ++index) {
      const data::Impression impression = dataset.impression(index);
      if (impression.user != user || impression.shown.size() != impression.clicked.size()) abort();
      for (const data::ItemId item : impression.history) sum += ids[item].size();
      for (const data::ItemId item : impression.shown) sum += ids[item].size();
    }
    const auto& rows = dataset.interactions();
    for (std::uint64_t row = rows.user_offsets[user]; row < rows.user_offsets[user + std::size_t{1}]; ++row) {
      sum +=
          ids[rows.items[row]].size() + static_cast<std::uint64_t>(rows.times[row]) + (rows.ratings[row] > 0);
    }
  }
  return sum;
}

void open_and_walk(const std::filesystem::path& directory) {
  const Result<data::Dataset> dataset = data::Dataset::open(directory);
  if (!dataset) {
    if (dataset.error().message.empty()) abort();
    return;
  }
  volatile std::uint64_t sum = walk_items(dataset->catalogue()) +
                               walk_features(dataset->user_features(), dataset->user_count()) +
                               walk_behaviour(*dataset) + data::to_text(data::describe(*dataset)).size();
  (void)sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Workplace workplace;
  static const data::EditedSections valid = valid_sections(workplace.path());
  FuzzedDataProvider input(data, size);
  if (input.ConsumeIntegralInRange(0, 3) == 0) {
    const std::vector<char> bytes = input.ConsumeRemainingBytes<char>();
    std::ofstream file(workplace.path() / data::dataset_sections::file_name,
                       std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  } else {
    data::EditedSections edited = valid;
    while (input.remaining_bytes() > 0) {
      const std::size_t section = input.ConsumeIntegralInRange<std::size_t>(0, edited.all().size() - 1);
      edit(edited.all()[section], input);
    }
    if (!edited.write(workplace.path())) abort();
  }
  open_and_walk(workplace.path());
  return 0;
}
