// MovieLens 1M (users.dat, movies.dat, ratings.dat; "::" between fields) and 100K (u.user, u.item, u.data),
// both in Latin-1. Ratings become interactions, genres a categorical item feature, the year a numeric one,
// and the demographics categorical user features, all with the codes as published.

#include <array>
#include <string>
#include <vector>

#include "data/importers/delimited.h"
#include "data/importers/field_values.h"
#include "data/importers/import_job.h"
#include "data/importers/importers.h"

namespace sotto::data {

namespace {

constexpr std::string_view movielens_files =
    "users.dat, movies.dat and ratings.dat (MovieLens 1M) or u.user, u.item and u.data (100K)";

// The flags at the end of a row of u.item, in order.
constexpr std::array<std::string_view, 19> genres_100k = {
    "unknown",     "Action", "Adventure", "Animation", "Children's", "Comedy",  "Crime",
    "Documentary", "Drama",  "Fantasy",   "Film-Noir", "Horror",     "Musical", "Mystery",
    "Romance",     "Sci-Fi", "Thriller",  "War",       "Western"};
constexpr std::size_t first_genre_column = 5;

// The codes of users.dat and u.user, from the README of each. Ages of the 100K set are years and zip codes
// are free text: no list.
constexpr std::array<std::string_view, 2> genders = {"F", "M"};
constexpr std::array<std::string_view, 7> ages_1m = {"1", "18", "25", "35", "45", "50", "56"};
constexpr std::array<std::string_view, 21> occupations_1m = {"0",  "1",  "2",  "3",  "4",  "5",  "6",
                                                             "7",  "8",  "9",  "10", "11", "12", "13",
                                                             "14", "15", "16", "17", "18", "19", "20"};
constexpr std::array<std::string_view, 21> occupations_100k = {
    "administrator", "artist",    "doctor",   "educator",  "engineer",  "entertainment", "executive",
    "healthcare",    "homemaker", "lawyer",   "librarian", "marketing", "none",          "other",
    "programmer",    "retired",   "salesman", "scientist", "student",   "technician",    "writer"};

// "Heat (1995)" -> 1995.
std::optional<float> year_of_title(std::string_view title) {
  title = trimmed(title);
  if (title.size() < 6 || title.back() != ')' || title[title.size() - 6] != '(') return std::nullopt;
  return parse_number(title.substr(title.size() - 5, 4));
}

class MovieLensReader {
 public:
  MovieLensReader(DatasetBuilder& builder, ImportJob& job) : builder_(builder), job_(job) {}

  Status read_1m(const fs::path& folder);
  Status read_100k(const fs::path& folder);
  void write_notes() {
    job_.note_count(builder_.counts().items - movies_,
                    "rated movies are not in the movie file: kept without title");
    job_.note_count(builder_.counts().users - users_,
                    "users are not in the user file: kept without features");
  }

 private:
  // Calls accept(row) for each row with that many fields; accept returns what is wrong, or "".
  template <class Accept>
  Status for_each_row(const fs::path& file, std::string delimiter, std::size_t columns, Accept accept) {
    SOTTO_TRY(DelimitedReader row,
              DelimitedReader::open(file, {std::move(delimiter), false, Encoding::latin1}, job_.report));
    while (true) {
      SOTTO_TRY(const bool more, row.next());
      if (!more) return job_.report.check();
      if (!row.has_columns(columns)) continue;
      const std::string_view problem = accept(row);
      if (problem.empty()) {
        row.good();
      } else {
        row.malformed(problem);
      }
    }
  }

  std::string_view add_user(std::string_view id, std::string_view gender, std::string_view age,
                            std::string_view occupation, std::string_view zip);
  std::string_view add_movie(std::string_view id, std::string_view title, std::optional<float> year);
  std::string_view add_rating(const DelimitedReader& row);

  DatasetBuilder& builder_;
  ImportJob& job_;
  std::vector<std::string_view> genres_;  // of the movie being added
  std::uint64_t movies_ = 0, users_ = 0;
};

std::string_view MovieLensReader::add_user(std::string_view id, std::string_view gender, std::string_view age,
                                           std::string_view occupation, std::string_view zip) {
  if (!parse_integer(id)) return "the user is not a number";
  if (!parse_integer(age)) return "the age is not a number";
  if (gender != "M" && gender != "F") return "the gender is not M or F";
  const UserId user = builder_.user(id);
  users_ = builder_.counts().users;
  builder_.set_user_category(user, "gender", {&gender, 1});
  builder_.set_user_category(user, "age", {&age, 1});
  builder_.set_user_category(user, "occupation", {&occupation, 1});
  builder_.set_user_category(user, "zip", {&zip, 1});
  return {};
}

std::string_view MovieLensReader::add_movie(std::string_view id, std::string_view title,
                                            std::optional<float> year) {
  if (!parse_integer(id)) return "the movie is not a number";
  if (title.empty()) return "the movie has no title";
  const ItemId item = builder_.add_item({.id = id, .title = title});
  movies_ = builder_.counts().items;
  builder_.set_item_category(item, "genres", genres_);
  if (!year) year = year_of_title(title);
  if (year) builder_.set_item_number(item, "year", *year);
  return {};
}

std::string_view MovieLensReader::add_rating(const DelimitedReader& row) {
  const auto rating = parse_number(row.field(2));
  const auto time = parse_time(row.field(3), TimeFormat::unix_seconds);
  if (!parse_integer(row.field(0))) return "the user is not a number";
  if (!parse_integer(row.field(1))) return "the movie is not a number";
  if (!rating || *rating < 0.5F || *rating > 5) return "the rating is not a number from 0.5 to 5";
  if (!time) return "the time is not in seconds since 1970";
  builder_.add_interaction(builder_.user(row.field(0)), builder_.item(row.field(1)), *rating, *time);
  return {};
}

Status MovieLensReader::read_1m(const fs::path& folder) {
  builder_.declare_user_category("gender", genders);
  builder_.declare_user_category("age", ages_1m);
  builder_.declare_user_category("occupation", occupations_1m);
  SOTTO_CHECK(for_each_row(folder / "movies.dat", "::", 3, [&](const DelimitedReader& row) {
    split_list(row.field(2), '|', genres_);
    return add_movie(row.field(0), row.field(1), std::nullopt);
  }));
  SOTTO_CHECK(for_each_row(folder / "users.dat", "::", 5, [&](const DelimitedReader& row) {
    return add_user(row.field(0), row.field(1), row.field(2), row.field(3), row.field(4));
  }));
  return for_each_row(folder / "ratings.dat", "::", 4,
                      [&](const DelimitedReader& row) { return add_rating(row); });
}

Status MovieLensReader::read_100k(const fs::path& folder) {
  builder_.declare_user_category("gender", genders);
  builder_.declare_user_category("age", {});  // the columns in the same order as of the 1M set
  builder_.declare_user_category("occupation", occupations_100k);
  SOTTO_CHECK(for_each_row(
      folder / "u.item", "|", first_genre_column + genres_100k.size(), [&](const DelimitedReader& row) {
        genres_.clear();
        for (std::size_t genre = 0; genre < genres_100k.size(); ++genre) {
          const std::string_view flag = row.field(first_genre_column + genre);
          if (flag == "1") genres_.push_back(genres_100k[genre]);
          if (flag != "0" && flag != "1") return std::string_view("a genre flag is neither 0 nor 1");
        }
        // "01-Jan-1995", or nothing.
        const std::string_view released = row.field(2);
        return add_movie(
            row.field(0), row.field(1),
            released.size() > 4 ? parse_number(released.substr(released.size() - 4)) : std::nullopt);
      }));
  SOTTO_CHECK(for_each_row(folder / "u.user", "|", 5, [&](const DelimitedReader& row) {
    return add_user(row.field(0), row.field(2), row.field(1), row.field(3), row.field(4));
  }));
  return for_each_row(folder / "u.data", "\t", 4,
                      [&](const DelimitedReader& row) { return add_rating(row); });
}

bool has_all(const fs::path& folder, std::initializer_list<std::string_view> names) {
  return std::all_of(names.begin(), names.end(),
                     [&](std::string_view name) { return find_file(folder, name); });
}

}  // namespace

Result<DatasetBuilder> read_movielens(const fs::path& source, ImportJob& job) {
  const bool is_1m = has_all(source, {"users.dat", "movies.dat", "ratings.dat"});
  if (!is_1m && !has_all(source, {"u.user", "u.item", "u.data"}))
    return unexpected_layout(source, movielens_files);
  DatasetBuilder builder(is_1m ? "MovieLens-1M" : "MovieLens-100K", job.origin);
  MovieLensReader reader(builder, job);
  SOTTO_CHECK(is_1m ? reader.read_1m(source) : reader.read_100k(source));
  reader.write_notes();
  return builder;
}

}  // namespace sotto::data
