// Seconds in Efficient-FedRec's Table 3 and Figure 3: a client's own work, measured alone.

#include "eval/experiments/efficient_costs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "eval/experiments/paper_experiments.h"
#include "fl/tiny_news.h"
#include "model/tensor.h"

namespace sotto::eval {
namespace {

const ReportTable& only_table(const GridExtra& extra, const std::string& file) {
  EXPECT_EQ(extra.tables.size(), 1U);
  EXPECT_EQ(extra.tables.front().file, file);
  return extra.tables.front().table;
}

std::vector<std::string> headings_of(const ReportTable& table) {
  std::vector<std::string> headings;
  for (const TableColumn& column : table.columns) headings.push_back(column.heading);
  return headings;
}

struct Seconds {
  double client = 0, server = 0;
};

// Of the processor: other work on the machine is not counted.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// By system, in the order of the table.
std::vector<Seconds> own_work_of(const data::Dataset& dataset, std::int64_t group) {
  const auto extra = own_work(dataset, group, true, thread_seconds);
  EXPECT_TRUE(extra) << extra.error().message;
  std::vector<Seconds> all;
  for (const auto& row : only_table(*extra, "own-work").rows)
    all.push_back({*row.at(1).value, *row.at(3).value});
  return all;
}

TEST(OwnWork, HasARowPerSystemWithFiniteSeconds) {
  const TempFolder folder;
  const auto extra = own_work(fl::testing::tiny_news(folder, 20, 40), 2, true);
  ASSERT_TRUE(extra) << extra.error().message;
  const ReportTable& table = only_table(*extra, "own-work");
  EXPECT_EQ(headings_of(table),
            (std::vector<std::string>{"system", "client seconds", "paper", "server seconds"}));
  std::vector<std::string> systems;
  for (const auto& row : table.rows) {
    systems.push_back(row.at(0).text);
    for (const std::size_t column : {1, 3}) {
      ASSERT_TRUE(row.at(column).value);
      EXPECT_TRUE(std::isfinite(*row.at(column).value));
      EXPECT_GT(*row.at(column).value, 0) << systems.back();
    }
  }
  EXPECT_EQ(systems, (std::vector<std::string>{"FedRec", "FedRec(BERT tiny)", "Efficient-FedRec(BERT tiny)",
                                               "Efficient-FedRec(NRMS)"}));
  ASSERT_EQ(extra->plots.size(), 1U);
  const PlotSeries& drawn = extra->plots.front().second.series.at(0);
  ASSERT_EQ(drawn.y.size(), systems.size());
  for (std::size_t i = 0; i < systems.size(); ++i) EXPECT_EQ(drawn.y[i], *table.rows[i].at(1).value);
}

// A whole round divided by its clients would fall with the group, and a whole round grow with it.
TEST(OwnWork, OfAClientDoesNotDependOnTheSizeOfTheGroup) {
  const TempFolder folder;
  const data::Dataset dataset = fl::testing::tiny_news(folder, 40, 40);
  constexpr std::int64_t few = 4, many = 40;
  std::vector<Seconds> least_of_few, least_of_many;
  // The smaller one: what disturbs a measurement only adds.
  const auto take = [](std::vector<Seconds>& least, const std::vector<Seconds>& now) {
    if (least.empty()) least = now;
    for (std::size_t i = 0; i < least.size(); ++i)
      least[i].client = std::min(least[i].client, now.at(i).client);
  };
  const int threads = at::get_num_threads();
  at::set_num_threads(1);  // nobody is waited for
  for (int again = 0; again < 2; ++again) {
    take(least_of_few, own_work_of(dataset, few));
    take(least_of_many, own_work_of(dataset, many));
  }
  at::set_num_threads(threads);
  for (std::size_t i = 0; i < least_of_few.size(); ++i) {
    const double ratio = least_of_many[i].client / least_of_few[i].client;
    EXPECT_LT(ratio, 5) << "system " << i << ": the group is ten times as large";
    EXPECT_GT(ratio, 0.2) << "system " << i;
  }
}

TEST(OwnWork, TheServersMeanGrowsWithClientsAndNumbers) {
  const double one = mean_seconds(8, 1 << 20);
  EXPECT_GT(one, 0);
  EXPECT_GT(mean_seconds(512, 1 << 20), 4 * one);
  // Timed on four million numbers and scaled: a large model costs no more time to time.
  EXPECT_GT(mean_seconds(8, std::int64_t{1} << 40), 1000 * one);
}

TEST(OwnWork, APassThroughTheUserModelTakesLongerForALongerHistory) {
  const double some = user_model_pass_seconds(2), more = user_model_pass_seconds(400);
  EXPECT_TRUE(std::isfinite(some));
  EXPECT_GT(some, 0);
  EXPECT_GT(more, 2 * some);
}

TEST(CostTable, HasThePapersColumnsAndFiniteSecondsForEverySizeThatIsTimed) {
  GridContext context;
  context.quick = true;
  context.data = "tiny", context.users = 20, context.items = 40;
  const Grid grid = efficient_bert_sizes(context).value();
  const TempFolder folder;
  const auto extra = grid.extra(fl::testing::tiny_news(folder));
  ASSERT_TRUE(extra) << extra.error().message;
  const ReportTable& table = only_table(*extra, "cost");
  EXPECT_EQ(
      headings_of(table),
      (std::vector<std::string>{
          "size", "numbers in BERT", "FedRec, million floats", "paper", "Efficient-FedRec, million floats",
          "paper", "FedRec, client seconds", "paper", "FedRec, server seconds", "paper",
          "Efficient-FedRec, client seconds", "paper", "Efficient-FedRec, server seconds", "paper"}));
  ASSERT_EQ(table.rows.size(), 6U);
  double floats = 0;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto& cells = table.rows[row];
    ASSERT_EQ(cells.size(), table.columns.size());
    const bool timed = row < 3;  // the larger ones take minutes
    for (std::size_t column = 1; column < cells.size(); ++column) {
      if (!timed && (column == 6 || column == 12)) {
        EXPECT_EQ(cells[column].text, "not timed");
        continue;
      }
      ASSERT_TRUE(cells[column].value) << row << " " << table.columns[column].heading;
      EXPECT_TRUE(std::isfinite(*cells[column].value) && *cells[column].value > 0)
          << row << " " << table.columns[column].heading;
    }
    EXPECT_GT(*cells[2].value, floats) << "larger sizes have more to send";
    floats = *cells[2].value;
    EXPECT_EQ(*cells[4].value, *table.rows[0][4].value) << "the client's part is the same for every size";
    // The paper's point: a client of its system works far less than one that holds BERT.
    if (timed) {
      EXPECT_LT(*cells[10].value, *cells[6].value / 2) << cells[0].text;
    }
  }
}

}  // namespace
}  // namespace sotto::eval
