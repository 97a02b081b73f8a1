#include <gmock/gmock.h>

#include "import_fixture.h"

namespace sotto::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ImportMovieLens : public ImportTest {
 protected:
  void write_1m() {
    write("movies.dat",
          "1::Kites (1994)::Drama|Comedy\n7::Caf\xE9 (in Paris) (2000)::Musical\n9::No Year::\n");
    write("users.dat", "1::F::18::10::48067\n2::M::56::0::0231-B\n");
    write("ratings.dat", "1::7::4::978300760\n2::1::5::978300000\n1::1::3::978300700\n");
  }
};

TEST_F(ImportMovieLens, Reads1MWithDemographicsGenresAndYears) {
  write_1m();
  const Dataset dataset = import("movielens");
  EXPECT_EQ(dataset.name(), "MovieLens-1M");
  EXPECT_EQ(summary.counts.interactions, 3U);
  const Catalogue& items = dataset.catalogue();
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items.titles[1], "Caf\xC3\xA9 (in Paris) (2000)");
  EXPECT_EQ(items.abstracts[0], "");
  const auto* const genres = items.features.find_categorical("genres");
  EXPECT_THAT(names_of(*genres, 0), ElementsAre("Drama", "Comedy"));
  EXPECT_THAT(names_of(*genres, 2), IsEmpty());
  const auto years = items.features.find_numeric("year")->values;
  EXPECT_EQ(years[0], 1994);
  EXPECT_EQ(years[1], 2000);
  EXPECT_TRUE(std::isnan(years[2]));
  const auto& users = dataset.user_features();
  EXPECT_THAT(names_of(*users.find_categorical("gender"), 0), ElementsAre("F"));
  EXPECT_THAT(names_of(*users.find_categorical("age"), 1), ElementsAre("56"));
  EXPECT_THAT(names_of(*users.find_categorical("occupation"), 0), ElementsAre("10"));
  EXPECT_THAT(names_of(*users.find_categorical("zip"), 1), ElementsAre("0231-B"));
  // User 1 in time order.
  EXPECT_EQ(dataset.interactions().items[0], 0U);
  EXPECT_EQ(dataset.interactions().ratings[0], 3);
  EXPECT_EQ(dataset.interactions().items[1], 1U);
  EXPECT_EQ(dataset.interactions().times[1], 978300760);
}

TEST_F(ImportMovieLens, Reads100K) {
  const std::string no_genres = "|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0\n";
  write("u.item",
        "1|Kites (1994)|01-Jan-1995||http://example.org|0|1|0|0|0|1|0|0|0|0|0|0|0|0|0|0|0|0|0\n"
        "2|Mis\xE9ria|||" +
            no_genres);
  write("u.user", "1|24|M|technician|85711\n2|53|F|other|94043\n");
  write("u.data", "2\t1\t5\t874965758\n1\t2\t3\t876893171\n");
  const Dataset dataset = import("movielens");
  EXPECT_EQ(dataset.name(), "MovieLens-100K");
  const Catalogue& items = dataset.catalogue();
  EXPECT_THAT(names_of(*items.features.find_categorical("genres"), 0), ElementsAre("Action", "Comedy"));
  EXPECT_EQ(items.features.find_numeric("year")->values[0], 1995);
  EXPECT_TRUE(std::isnan(items.features.find_numeric("year")->values[1]));
  EXPECT_EQ(items.titles[1], "Mis\xC3\xA9ria");
  EXPECT_THAT(names_of(*dataset.user_features().find_categorical("occupation"), 1), ElementsAre("other"));
  EXPECT_EQ(summary.counts.interactions, 2U);
}

TEST_F(ImportMovieLens, KeepsRatingsOfUnlistedMoviesAndUsersAndSaysSo) {
  write_1m();
  write("ratings.dat", "1::7::4::978300760\n3::8::5::978300000\n");
  const Dataset dataset = import("movielens");
  EXPECT_EQ(dataset.item_count(), 4U);
  EXPECT_EQ(dataset.user_count(), 3U);
  EXPECT_TRUE(has_note("1 rated movies"));
  EXPECT_TRUE(has_note("1 users"));
}

TEST_F(ImportMovieLens, CountsMalformedRows) {
  write_1m();
  write("ratings.dat",
        "1::7::6::978300760\n1::7::x::978300760\n1::7::4\n::7::4::1\n1::7::4::never\n1::7::4::5\n");
  import("movielens", {"malformed_limit=0.5"});
  EXPECT_EQ(summary.malformed_rows, 5U);
  EXPECT_EQ(summary.counts.interactions, 1U);
}

TEST_F(ImportMovieLens, TheTextViewShowsLikedMoviesAmongUnseenOnesWithGenresAsText) {
  std::string movies, ratings;
  for (int movie = 1; movie <= 30; ++movie)
    movies += fmt::format("{}::Film {} (1999)::Drama|War\n", movie, movie);
  for (int movie = 1; movie <= 6; ++movie)
    ratings += fmt::format("1::{}::{}::{}\n", movie, movie, 1000 + movie);
  ratings.replace(ratings.find("::6::1006"), 9, "::5::1006");
  write("movies.dat", movies);
  write("users.dat", "1::F::18::10::48067\n");
  write("ratings.dat", ratings);
  const Dataset dataset = import("movielens", {"view=text", "negatives=4", "sampling=uniform"});
  EXPECT_EQ(dataset.catalogue().abstracts[0], "Drama, War");
  EXPECT_FALSE(dataset.has_interactions());
  // Ratings above 3: movies 4, 5, 6; the first is history only.
  ASSERT_EQ(dataset.impression_count(), 2U);
  const Impression last = dataset.impression(1);
  EXPECT_EQ(last.split, Split::test);
  EXPECT_EQ(last.shown.size(), 5U);
  EXPECT_THAT(ids_of(dataset, last.history), ElementsAre("4", "5"));
  EXPECT_EQ(summary.counts.impressions, 2U);
  EXPECT_FALSE(fs::exists(out() / "interactions"));
}

TEST_F(ImportMovieLens, SaysWhichFilesItExpectedAndFound) {
  write("movies.dat", "");
  EXPECT_THAT(failure("movielens"),
              ::testing::AllOf(HasSubstr("expected users.dat"), HasSubstr("found movies.dat")));
}

}  // namespace
}  // namespace sotto::data
