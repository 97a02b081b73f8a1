// Lists of items with their split, as graph recommenders publish Gowalla, Yelp or Amazon books: train.txt and
// test.txt, a user and its items per line, all of them numbers from 0. There are no ratings, times or
// features; what a user did trains or tests as the files say.
//
// The numbers are those of the published catalogue: items 0 to the largest (or `items`) exist, whoever names
// them.

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "data/importers/delimited.h"
#include "data/importers/field_values.h"
#include "data/importers/import_job.h"
#include "data/importers/importers.h"

namespace sotto::data {

namespace {

// Numbers that are no one's list would cost a catalogue of their size.
constexpr std::uint64_t most_unnamed_per_item = 10, few_items = 1000;
constexpr std::int64_t largest_number = 99'999'999;

struct ListedRow {
  std::uint32_t user, item;
  Split split;
  bool operator<(const ListedRow& other) const {
    return std::pair(user, item) != std::pair(other.user, other.item)
               ? std::pair(user, item) < std::pair(other.user, other.item)
               : split < other.split;
  }
};

class ListsReader {
 public:
  ListsReader(std::string name, ImportJob& job) : name_(std::move(name)), job_(job), last_(largest_number) {
    if (job.settings.items > 0) last_ = job.settings.items - 1;
  }
  Status read(const fs::path& file, Split split);
  Result<DatasetBuilder> build();

 private:
  std::string_view add_line(const DelimitedReader& line, Split split);  // what is wrong with it, or ""
  Result<std::uint64_t> catalogue_size() const;

  std::string name_;
  ImportJob& job_;
  std::int64_t last_;  // number of an item
  std::vector<ListedRow> rows_;
};

std::string_view ListsReader::add_line(const DelimitedReader& line, Split split) {
  const auto user = parse_integer(line.field(0));
  if (!user || *user < 0 || *user > largest_number) return "the user is not a number from 0";
  const std::size_t before = rows_.size();
  for (std::size_t i = 1; i < line.fields().size(); ++i) {
    if (line.field(i).empty()) continue;  // two spaces, or one at the end
    const auto item = parse_integer(line.field(i));
    if (!item || *item < 0 || *item > last_) {
      rows_.resize(before);
      return job_.settings.items > 0 ? "an item is not a number below the items there are"
                                     : "an item is not a number from 0";
    }
    rows_.push_back({static_cast<std::uint32_t>(*user), static_cast<std::uint32_t>(*item), split});
  }
  return {};
}

Status ListsReader::read(const fs::path& file, Split split) {
  SOTTO_TRY(DelimitedReader line, DelimitedReader::open(file, {" ", false, Encoding::utf8}, job_.report));
  while (true) {
    SOTTO_TRY(const bool more, line.next());
    if (!more) return job_.report.check();
    const std::string_view problem = add_line(line, split);
    if (problem.empty()) {
      line.good();
    } else {
      line.malformed(problem);
    }
  }
}

Result<std::uint64_t> ListsReader::catalogue_size() const {
  if (job_.settings.items > 0) return static_cast<std::uint64_t>(job_.settings.items);
  std::vector<std::uint32_t> named;
  for (const ListedRow& row : rows_) named.push_back(row.item);
  std::sort(named.begin(), named.end());
  named.erase(std::unique(named.begin(), named.end()), named.end());
  const std::uint64_t size = named.empty() ? 0 : std::uint64_t{named.back()} + 1;
  if (size > most_unnamed_per_item * named.size() + few_items)
    return bad_input(
        "the largest item is number {} and only {} are named: these are no numbers of a list from 0. Number "
        "the items anew, or give --items",
        size - 1, named.size());
  return size;
}

Result<DatasetBuilder> ListsReader::build() {
  SOTTO_TRY(const std::uint64_t size, catalogue_size());
  std::sort(rows_.begin(), rows_.end());
  DatasetBuilder builder(name_, job_.origin);
  for (std::uint64_t item = 0; item < size && !rows_.empty(); ++item) {
    const std::string id = std::to_string(item);
    builder.add_item({.id = id});
  }
  std::uint64_t repeated = 0, known = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const ListedRow& row = rows_[i];
    const bool again = i > 0 && rows_[i - 1].user == row.user && rows_[i - 1].item == row.item;
    if (again) {
      ++(rows_[i - 1].split == row.split ? repeated : known);
      continue;
    }
    const UserId user = builder.user(std::to_string(row.user));
    builder.add_split_interaction(user, builder.item(std::to_string(row.item)), row.split);
  }
  job_.note_count(repeated, "items stand twice in a list: kept once");
  job_.note_count(known, "test items are in their user's training list: left out of the test");
  if (job_.settings.items == 0 && size > 0)
    job_.note(
        fmt::format("the public list of items is 0 to {}, as they are numbered: give --items where "
                    "even the largest number must not follow from somebody's row",
                    size - 1));
  return builder;
}

}  // namespace

Result<DatasetBuilder> read_lists(const fs::path& source, ImportJob& job) {
  const auto train = find_file(source, "train.txt"), test = find_file(source, "test.txt");
  if (!train || !test) return unexpected_layout(source, "train.txt and test.txt");
  // The files do not say whose they are; the folder usually does.
  const std::string folder = fs::absolute(source).lexically_normal().filename().string();
  ListsReader reader(folder.empty() ? "lists" : folder, job);
  SOTTO_CHECK(reader.read(*train, Split::train));
  SOTTO_CHECK(reader.read(*test, Split::test));
  return reader.build();
}

}  // namespace sotto::data
