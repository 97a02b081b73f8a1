// The order of a source's rows must not reach the data set: where times tie it may say more than they do.

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "base/distributions.h"
#include "data/describe.h"
#include "import_fixture.h"

namespace sotto::data {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class RowOrder : public ImportTest {
 protected:
  std::string bytes() const {
    std::ifstream in(out() / "dataset.sotto", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // Writes the lines behind the first `header` ones, shuffled.
  void write_lines(const std::string& name, std::vector<std::string> lines, std::size_t header,
                   std::uint64_t seed) {
    SeededRandom random(seed, Purpose::test);
    if (seed > 0) shuffle(std::span(lines).subspan(header), random);
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    write(name, text);
  }
  template <class Write>
  void expect_same_bytes(std::string_view kind, std::initializer_list<std::string_view> settings,
                         Write write_source) {
    write_source(0);
    import(kind, settings);
    const std::string first = bytes();
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      write_source(seed);
      fs::remove_all(out());
      import(kind, settings);
      EXPECT_TRUE(bytes() == first) << kind << ", shuffled by " << seed;
    }
  }
  // Constant and coarse times, ids that ascend, movies and users beyond the lists.
  void write_movielens(std::uint64_t seed) {
    std::vector<std::string> movies, users, ratings;
    for (int movie = 1; movie <= 40; ++movie)
      movies.push_back(fmt::format("{}::Film {} ({})::{}", movie, movie, 1950 + movie,
                                   movie % 2 == 0 ? "Drama|War" : "Comedy"));
    for (int user = 1; user <= 12; ++user)
      users.push_back(
          fmt::format("{}::{}::25::{}::{}", user, user % 3 == 0 ? "F" : "M", user % 7, 90 + user));
    for (int user = 1; user <= 14; ++user)
      for (int movie = 1 + user % 3; movie <= 44; movie += 1 + user % 4)
        ratings.push_back(
            fmt::format("{}::{}::{}::{}", user, movie, 1 + (user + movie) % 5, 1000 + (movie / 20) * 1000));
    write_lines("movies.dat", movies, 0, seed);
    write_lines("users.dat", users, 0, seed);
    write_lines("ratings.dat", ratings, 0, seed);
  }
  void write_csv(std::uint64_t seed) {
    write("mapping.toml", R"(
[interactions]
file = "sales.csv"
user = "customer"
item = "product"
rating = "stars"
time = "day"
categories = ["shop"]
numbers = ["paid"]
[items]
file = "products.csv"
id = "sku"
title = "label"
category = "shelf"
categories = ["flavours"]
[users]
file = "people.csv"
id = "id"
categories = ["town"]
[impressions]
file = "window.csv"
user = "customer"
shown = "shown"
clicked = "bought"
history = "before"
time = "day"
)");
    write_lines(
        "products.csv",
        {"sku,label,shelf,flavours", "p10,Bun,bread,salt|rye", "p9,Tart,cake,sour", "p1,Roll,bread,rye"}, 1,
        seed);
    write_lines("people.csv", {"id,town", "bob,Oslo", "ann,Bergen", "cy,Oslo"}, 1, seed);
    write_lines("sales.csv",
                {"customer,product,stars,day,shop,paid", "bob,p10,4,5,west,1", "bob,p10,4,5,east,1",
                 "bob,p9,2,5,west,2", "bob,p10,5,5,west,1", "zoe,p77,1,3,north,", "ann,p1,3,1,east,7",
                 "ann,p5,3,1,south,7"},
                1, seed);
    write_lines("window.csv",
                {"customer,shown,bought,before,day", "bob,p9 p10,p9,p1,7", "bob,p9 p10,p10,p1,7",
                 "bob,p10 p9,p10,,7", "ann,p1 p2,p2,p9 p10,8", "ann,p2 p1,p2,p9 p10,200000"},
                1, seed);
  }
  void write_frappe(std::uint64_t seed) {
    const std::string context = "\tmorning\tsunday\tweekend\tunknown\tfree\tsunny\tSpain\t0";
    std::vector<std::string> log = {
        "user\titem\tcnt\tdaytime\tweekday\tisweekend\thomework\tcost\tweather\tcountry\tcity"};
    for (int user = 0; user < 6; ++user)
      for (int app = user % 2; app < 12; app += 2)
        for (int times = 0; times <= user % 3; ++times)
          log.push_back(fmt::format("{}\t{}\t{}{}{}", user, app, times + 1, context, times));
    write_lines("frappe.csv", log, 1, seed);
    std::vector<std::string> apps = {
        "item\tpackage\tcategory\tdownloads\tdeveloper\ticon\tlanguage\tdescription\tname\tprice\trating\tsho"
        "rt"};
    for (int app = 0; app < 11; ++app)
      apps.push_back(fmt::format("{}\tp\tTools {}\t10\tCo {}\ti\ten\tText {}\tApp {}\tFree\t4\ts", app,
                                 app % 3, app % 4, app, app));
    write_lines("meta.csv", apps, 1, seed);
  }
};

TEST_F(RowOrder, OfMovieLensFilesReachesNoByte) {
  expect_same_bytes("movielens", {}, [&](std::uint64_t seed) { write_movielens(seed); });
}

TEST_F(RowOrder, OfMovieLensFilesReachesNoByteOfTheTextView) {
  for (const std::string_view sampling : {"sampling=uniform", "sampling=popularity"}) {
    fs::remove_all(out());
    expect_same_bytes("movielens", {"view=text", "negatives=5", sampling},
                      [&](std::uint64_t seed) { write_movielens(seed); });
  }
}

TEST_F(RowOrder, OfCsvFilesReachesNoByte) {
  expect_same_bytes("csv", {"validation_share=0.4"}, [&](std::uint64_t seed) { write_csv(seed); });
}

TEST_F(RowOrder, OfFrappeFilesReachesNoByte) {
  expect_same_bytes("frappe", {}, [&](std::uint64_t seed) { write_frappe(seed); });
  fs::remove_all(out());
  expect_same_bytes("frappe", {"view=text", "negatives=3"}, [&](std::uint64_t seed) { write_frappe(seed); });
}

TEST_F(RowOrder, OfAdressaLogsReachesNoByte) {
  expect_same_bytes("adressa", {"negatives=4"}, [&](std::uint64_t seed) {
    for (int day = 1; day <= 4; ++day) {
      std::vector<std::string> lines;
      for (int reader = 0; reader < 8; ++reader)
        for (int article = reader; article < 20; article += 3)
          if ((article + day) % 2 == 0)
            lines.push_back(fmt::format(
                R"({{"userId": "r{}", "id": "a{}", "title": "Om {}", "category1": "c{}", "keywords": "k{}", "time": {}}})",
                reader, article, article, article % 4, article % 5, 1483228800 + day * 86400));
      write_lines(fmt::format("2017010{}", day), lines, 0, seed);
    }
  });
}

// A user's rows of one time stand in an order that has nothing to do with ids, and in another for another
// seed.
TEST_F(RowOrder, OfEqualTimesIsDrawnFromTheSeed) {
  std::string movies, ratings;
  for (int movie = 1; movie <= 60; ++movie) {
    movies += fmt::format("{}::Film {} (1999)::Drama\n", movie, movie);
    ratings += fmt::format("1::{}::5::1000\n", movie);
  }
  write("movies.dat", movies);
  write("users.dat", "1::F::18::10::48067\n");
  write("ratings.dat", ratings);
  const auto order = [&](std::string_view seed) {
    const Dataset dataset = import("movielens", {"replace=true", seed});
    return ids_of(dataset, dataset.interactions().items);
  };
  const auto one = order("seed=1"), two = order("seed=2");
  EXPECT_EQ(one, order("seed=1"));
  EXPECT_NE(one, two);
  int ascending = 0;
  for (std::size_t i = 1; i < one.size(); ++i) ascending += std::stoi(one[i]) > std::stoi(one[i - 1]) ? 1 : 0;
  EXPECT_GT(ascending, 15);
  EXPECT_LT(ascending, 45) << "of 59 steps; the file's order ascends in all";
}

TEST_F(RowOrder, DataInfoSaysWhenItIsMostlyDrawn) {
  write("mapping.toml", "[interactions]\nfile = 'r.csv'\nuser = 'u'\nitem = 'i'\ntime = 't'\n");
  std::string rows = "u,i,t\n";
  for (int i = 0; i < 21; ++i) rows += fmt::format("a,{},{}\n", i, i <= 3 ? 0 : i);  // 3 of 20 steps tie
  write("r.csv", rows);
  const DatasetSummary tied = describe(import("csv"));
  EXPECT_DOUBLE_EQ(tied.tied_share, 0.15);
  EXPECT_THAT(to_text(tied), HasSubstr("15.0 % of a user's events have the time of the one before"));
  rows = "u,i,t\n";
  for (int i = 0; i < 21; ++i) rows += fmt::format("a,{},{}\n", i, i <= 1 ? 0 : i);
  write("r.csv", rows);
  const DatasetSummary clear = describe(import("csv", {"replace=true"}));
  EXPECT_DOUBLE_EQ(clear.tied_share, 0.05);
  EXPECT_THAT(to_text(clear), Not(HasSubstr("order")));
}

}  // namespace
}  // namespace sotto::data
