// sotto.data: data sets as columns that NumPy looks at without a copy.
#include <nlohmann/json.hpp>

#include "bindings/bindings.h"
#include "data/dataset.h"
#include "data/describe.h"
#include "data/fingerprint.h"
#include "data/importers/importers.h"
#include "data/newsroom/newsroom.h"
#include "data/splits.h"
#include "data/views.h"

namespace sotto::python {

using namespace nb::literals;
using data::Dataset;

namespace {

// A table of a data set with the Python object that keeps its memory. The table is part of the data set.
template <class Table>
struct Part {
  const Table* table = nullptr;
  nb::object owner;
};
using Texts = Part<data::StringColumn>;
using Rows = Part<data::Interactions>;
using Shown = Part<data::ImpressionTable>;
using Lists = Part<data::ListColumn<std::uint32_t>>;

template <class Table>
Part<Table> part_of(const Dataset& dataset, const Table& table) {
  return {&table, nb::find(dataset)};
}

nb::str text_of(std::string_view bytes) {
  PyObject* made =
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape");
  if (made == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(made);
}

std::size_t row_at(std::int64_t row, std::size_t size) {
  const auto rows = static_cast<std::int64_t>(size);
  if (row < -rows || row >= rows) throw nb::index_error("there is no such row");
  return static_cast<std::size_t>(row < 0 ? row + rows : row);
}

void bind_columns(nb::module_& module) {
  nb::class_<Texts>(module, "TextColumn", "Texts back to back: `bytes` and `offsets` are views.")
      .def("__len__", [](const Texts& texts) { return texts.table->size(); })
      .def("__getitem__",
           [](const Texts& texts, std::int64_t row) {
             return text_of((*texts.table)[row_at(row, texts.table->size())]);
           })
      .def(
          "tolist",
          [](const Texts& texts) {
            nb::list all;
            for (std::size_t row = 0; row < texts.table->size(); ++row)
              all.append(text_of((*texts.table)[row]));
            return all;
          },
          nb::sig("def tolist(self) -> list[str]"))
      .def_prop_ro(
          "offsets", [](const Texts& texts) { return view_of(texts.table->offsets, texts.owner); },
          nb::rv_policy::reference)
      .def_prop_ro(
          "bytes",
          [](const Texts& texts) {
            const auto bytes = texts.table->bytes;
            return view_of(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()),
                           texts.owner);
          },
          nb::rv_policy::reference);
  nb::class_<Lists>(module, "CodeLists", "A list of codes per row, back to back.")
      .def("__len__", [](const Lists& lists) { return lists.table->size(); })
      .def("__getitem__",
           [](const Lists& lists, std::int64_t row) {
             return view_of((*lists.table)[row_at(row, lists.table->size())], lists.owner);
           })
      .def_prop_ro(
          "offsets", [](const Lists& lists) { return view_of(lists.table->offsets, lists.owner); },
          nb::rv_policy::reference)
      .def_prop_ro(
          "values", [](const Lists& lists) { return view_of(lists.table->values, lists.owner); },
          nb::rv_policy::reference);
}

template <class Class, class Owner, class T>
void add_view(Class& type, const char* name, std::span<const T> Owner::*column, const char* doc) {
  type.def_prop_ro(
      name, [column](const Part<Owner>& part) { return view_of(part.table->*column, part.owner); },
      nb::rv_policy::reference, doc);
}

void bind_behaviour(nb::module_& module) {
  nb::class_<Rows> rows(module, "Interactions", "Rows grouped by user, in time order within a user.");
  rows.def("__len__", [](const Rows& part) { return part.table->size(); });
  using data::Interactions;
  add_view(rows, "user_offsets", &Interactions::user_offsets,
           "Rows of user u: [user_offsets[u], user_offsets[u+1])");
  add_view(rows, "items", &Interactions::items, "Numbers of items.");
  add_view(rows, "ratings", &Interactions::ratings, "NaN where the data has none.");
  add_view(rows, "times", &Interactions::times, "Seconds since 1970, 0 when unknown.");

  nb::class_<Shown> shown(module, "Impressions", "What was shown to whom and clicked, grouped by user.");
  shown.def("__len__", [](const Shown& part) { return part.table->users.size(); });
  using data::ImpressionTable;
  add_view(shown, "user_offsets", &ImpressionTable::user_offsets, "Impressions of user u.");
  add_view(shown, "users", &ImpressionTable::users, "User of each impression.");
  add_view(shown, "times", &ImpressionTable::times, "Seconds since 1970, 0 when unknown.");
  add_view(shown, "splits", &ImpressionTable::splits, "0 train, 1 validation, 2 test.");
  add_view(shown, "histories", &ImpressionTable::histories, "Clicks before, of all histories.");
  add_view(shown, "history_starts", &ImpressionTable::history_starts,
           "Where the history of an impression begins.");
  add_view(shown, "history_lengths", &ImpressionTable::history_lengths, "How long it is.");
  add_view(shown, "shown_offsets", &ImpressionTable::shown_offsets,
           "Where the items of an impression begin.");
  add_view(shown, "shown", &ImpressionTable::shown, "Items shown, of all impressions.");
  add_view(shown, "clicked", &ImpressionTable::clicked, "0 or 1 per item shown.");
}

nlohmann::json to_json(const data::DatasetCounts& counts) {
  return {{"users", counts.users},
          {"items", counts.items},
          {"interactions", counts.interactions},
          {"impressions", counts.impressions},
          {"clicks", counts.clicks}};
}

data::Split split_of(const std::string& word) {
  constexpr std::string_view words[] = {"train", "validation", "test"};
  for (std::uint8_t split = 0; split < 3; ++split)
    if (word == words[split]) return static_cast<data::Split>(split);
  throw InputError(fmt::format("split is '{}', must be train, validation or test", word));
}

nb::dict features_of(const Dataset& dataset, const data::Features& features) {
  nb::dict made;
  const nb::object owner = nb::find(dataset);
  for (const auto& feature : features.numeric) made[feature.name.c_str()] = view_of(feature.values, owner);
  for (const auto& feature : features.categorical)
    made[feature.name.c_str()] = nb::make_tuple(Texts{&feature.names, owner}, Lists{&feature.codes, owner});
  return made;
}

void bind_dataset(nb::module_& module) {
  nb::class_<Dataset>(
      module, "Dataset",
      "An item catalogue and what users did, memory-mapped. Arrays are read-only views that keep the "
      "data set alive.")
      .def_static(
          "open",
          [](const fs::path& folder) { return unlocked([&] { return value_of(Dataset::open(folder)); }); },
          "folder"_a, nb::sig("def open(folder: str | os.PathLike[str]) -> Dataset"),
          "Opens DIR/dataset.sotto; every offset, code and checksum is checked.")
      .def_prop_ro("name", &Dataset::name)
      .def_prop_ro("origin", &Dataset::origin, "How it was made.")
      .def_prop_ro("users", &Dataset::user_count)
      .def_prop_ro("items", &Dataset::item_count)
      .def(
          "counts", [](const Dataset& dataset) { return to_python(to_json(dataset.counts())); },
          nb::sig("def counts(self) -> dict[str, int]"))
      .def(
          "fingerprint",
          [](const Dataset& dataset) { return unlocked([&] { return data::fingerprint(dataset); }); },
          "Of the content; runs are bound to it.")
      .def(
          "describe",
          [](const Dataset& dataset) {
            return unlocked([&] { return data::to_text(data::describe(dataset)); });
          },
          "A few lines for people.")
      .def_prop_ro("item_ids",
                   [](const Dataset& dataset) { return part_of(dataset, dataset.catalogue().ids); })
      .def_prop_ro("titles",
                   [](const Dataset& dataset) { return part_of(dataset, dataset.catalogue().titles); })
      .def_prop_ro("abstracts",
                   [](const Dataset& dataset) { return part_of(dataset, dataset.catalogue().abstracts); })
      .def_prop_ro(
          "category_names",
          [](const Dataset& dataset) { return part_of(dataset, dataset.catalogue().category_names); })
      .def_prop_ro(
          "categories",
          [](const Dataset& dataset) { return view_of(dataset.catalogue().categories, nb::find(dataset)); },
          nb::rv_policy::reference, "Code of the category of each item.")
      .def_prop_ro(
          "subcategory_names",
          [](const Dataset& dataset) { return part_of(dataset, dataset.catalogue().subcategory_names); })
      .def_prop_ro(
          "subcategories",
          [](const Dataset& dataset) {
            return view_of(dataset.catalogue().subcategories, nb::find(dataset));
          },
          nb::rv_policy::reference, "Code of the subcategory of each item.")
      .def_prop_ro(
          "is_public",
          [](const Dataset& dataset) { return view_of(dataset.catalogue().is_public, nb::find(dataset)); },
          nb::rv_policy::reference,
          "1: named by the public catalogue; 0: known only because somebody's row names it.")
      .def_prop_ro("user_ids",
                   [](const Dataset& dataset) { return part_of(dataset, dataset.parts().user_ids); })
      .def_prop_ro("interactions",
                   [](const Dataset& dataset) { return part_of(dataset, dataset.interactions()); })
      .def_prop_ro("impressions",
                   [](const Dataset& dataset) { return part_of(dataset, dataset.parts().impressions); })
      .def(
          "item_features",
          [](const Dataset& dataset) { return features_of(dataset, dataset.catalogue().features); },
          nb::sig("def item_features(self) -> dict[str, typing.Any]"),
          "By name: numbers as a view, categories as (names, codes).")
      .def(
          "user_features",
          [](const Dataset& dataset) { return features_of(dataset, dataset.user_features()); },
          nb::sig("def user_features(self) -> dict[str, typing.Any]"))
      .def(
          "context_features",
          [](const Dataset& dataset) { return features_of(dataset, dataset.interactions().context); },
          nb::sig("def context_features(self) -> dict[str, typing.Any]"))
      .def(
          "training_samples",
          [](const Dataset& dataset, std::uint32_t user, const std::string& split) {
            if (user >= dataset.user_count()) throw nb::index_error("there is no such user");
            const auto samples = data::training_samples(dataset, user, split_of(split));
            std::vector<std::uint32_t> impressions, positions;
            for (const auto& sample : samples) {
              impressions.push_back(sample.impression);
              positions.push_back(sample.clicked_position);
            }
            return nb::make_tuple(array_of(std::move(impressions)), array_of(std::move(positions)));
          },
          "user"_a, "split"_a = "train",
          nb::sig("def training_samples(self, user: int, split: str = 'train') -> "
                  "tuple[numpy.typing.NDArray[typing.Any], numpy.typing.NDArray[typing.Any]]"),
          "One (impression, position of the click) per click of a user.")
      .def("__repr__", [](const Dataset& dataset) {
        const auto counts = dataset.counts();
        return fmt::format("Dataset('{}': {} users, {} items, {} interactions, {} impressions)",
                           dataset.name(), counts.users, counts.items, counts.interactions,
                           counts.impressions);
      });
}

void bind_makers(nb::module_& module) {
  module.def(
      "import_dataset",
      [](const std::string& kind, const fs::path& source, const fs::path& out, const nb::kwargs& given) {
        data::ImportSettings settings;
        SettingsTable table;
        settings.bind(table);
        apply_settings(settings_of(given), table);
        const auto summary =
            unlocked([&] { return value_of(data::import_dataset(kind, source, out, settings)); });
        auto line = to_json(summary.counts);
        line.update({{"name", summary.name},
                     {"rows", summary.rows},
                     {"malformed", summary.malformed_rows},
                     {"notes", summary.notes}});
        return to_python(line);
      },
      "kind"_a, "source"_a, "out"_a, "settings"_a,
      nb::sig("def import_dataset(kind: str, source: str | os.PathLike[str], out: str | os.PathLike[str], "
              "**settings: str | float | bool | os.PathLike[str] | None) -> dict[str, typing.Any]"),
      "Imports a published format ('sotto data import' says which) into a folder.");
  module.def(
      "generate_newsroom",
      [](const fs::path& out, bool replace, const nb::kwargs& given) {
        data::NewsroomSettings settings;
        SettingsTable table;
        settings.bind(table);
        apply_settings(settings_of(given), table);
        const auto report =
            unlocked([&] { return value_of(data::generate_newsroom(settings, out, replace)); });
        return to_python(nlohmann::json(data::to_json(report)));
      },
      "out"_a, "replace"_a = false, "settings"_a,
      nb::sig("def generate_newsroom(out: str | os.PathLike[str], replace: bool = False, **settings: str | "
              "float | "
              "bool | None) -> dict[str, typing.Any]"),
      "Simulated readers of a simulated newsroom, written to a folder; says what is attainable on it.");
  module.def(
      "write_view",
      [](const fs::path& source, const std::string& view, const fs::path& out, bool replace,
         const nb::kwargs& given) {
        data::ViewSettings settings;
        SettingsTable table;
        settings.bind(table);
        apply_settings(settings_of(given), table);
        const auto summary =
            unlocked([&] { return value_of(data::write_view(source, view, settings, out, replace)); });
        auto line = to_json(summary.counts);
        line.update({{"name", summary.name}, {"notes", summary.notes}});
        return to_python(line);
      },
      "source"_a, "view"_a, "out"_a, "replace"_a = false, "settings"_a,
      nb::sig("def write_view(source: str | os.PathLike[str], view: str, out: str | os.PathLike[str], "
              "replace: bool = "
              "False, **settings: str | float | bool | None) -> dict[str, typing.Any]"),
      "The same data with its behaviour as interactions, impressions or text.");
  const auto def_settings = [&](const char* name, auto settings, const char* doc) {
    module.def(
        name,
        [settings]() {
          auto copy = settings;
          SettingsTable table;
          copy.bind(table);
          return rows_of(table);
        },
        nb::sig(fmt::format("def {}() -> list[tuple[str, str, str, str, str]]", name).c_str()), doc);
  };
  def_settings("import_settings", data::ImportSettings{}, "Settings of import_dataset().");
  def_settings("newsroom_settings", data::NewsroomSettings{}, "Settings of generate_newsroom().");
  def_settings("view_settings", data::ViewSettings{}, "Settings of write_view().");
}

}  // namespace

void bind_data(nb::module_& module) {
  bind_columns(module);
  bind_behaviour(module);
  bind_dataset(module);
  bind_makers(module);
  module.def(
      "split_users",
      [](const GivenArray& given, double share, std::uint64_t seed) {
        const Column<std::uint32_t> users(given, "users");
        auto split = unlocked([&] { return value_of(data::split_users(users.values(), share, seed)); });
        return nb::make_tuple(array_of(std::move(split.train)), array_of(std::move(split.test)));
      },
      "users"_a, "train_share"_a, "seed"_a = 1,
      nb::sig(
          "def split_users(users: numpy.typing.NDArray[typing.Any], train_share: float, seed: int = 1) -> "
          "tuple[numpy.typing.NDArray[typing.Any], numpy.typing.NDArray[typing.Any]]"),
      "A random share of the users trains, the rest tests; both ascending.");
  module.def(
      "halve_rows",
      [](const Dataset& dataset, std::uint32_t user, bool distinct_items, std::uint64_t seed) {
        if (user >= dataset.user_count() ||
            dataset.interactions().user_offsets.size() <= user + std::size_t{1})
          throw nb::index_error("there is no such user, or the data has no interactions");
        auto halves =
            data::halve_rows(dataset.interactions(), user,
                             distinct_items ? data::RowUnit::distinct_items : data::RowUnit::every_row, seed);
        return nb::make_tuple(array_of(std::move(halves.input)), array_of(std::move(halves.test)));
      },
      "dataset"_a, "user"_a, "distinct_items"_a = false, "seed"_a = 1,
      nb::sig("def halve_rows(dataset: Dataset, user: int, distinct_items: bool = False, seed: int = 1) -> "
              "tuple[numpy.typing.NDArray[typing.Any], numpy.typing.NDArray[typing.Any]]"),
      "A random half of a user's rows to tune on, the other half to test.");
}

}  // namespace sotto::python
