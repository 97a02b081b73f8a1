#include "publish/codebook.h"

#include <gtest/gtest.h>

#include <set>

#include "publish/normal_rows.h"

namespace sotto::publish {
namespace {

class CodebookOfReaders : public ::testing::Test {
 protected:
  // How well the server ranks for readers by the vector that is chosen for each of them.
  template <class Choose>
  double agreement(const Choose& choose) const {
    Rows told(users.size(), users.width);
    for (std::size_t i = 0; i < users.size(); ++i) {
      const std::vector<float> vector = choose(users[i]);
      std::copy(vector.begin(), vector.end(), told[i].begin());
    }
    const Rows truth = space.readers(users), ranked = space.readers(told);
    double sum = 0;
    for (std::size_t i = 0; i < users.size(); ++i) sum += dot(truth[i], ranked[i]);
    return sum / static_cast<double>(users.size());
  }
  static std::size_t nearest(std::span<const float> user, const Rows& prototypes) {
    std::size_t best = 0;
    for (std::size_t k = 1; k < prototypes.size(); ++k)
      if (cosine(user, prototypes[k]) > cosine(user, prototypes[best])) best = k;
    return best;
  }
  static std::vector<float> copy(std::span<const float> row) { return {row.begin(), row.end()}; }

  Rows readers = testing::normal_readers();
  RankingSpace space = RankingSpace::of_items(testing::normal_items()).value();
  Rows users = testing::normal_rows(500, 6, 7, 0.7F);
};

TEST_F(CodebookOfReaders, PrototypesNamedByCosineRankBetterTheMoreThereAre) {
  double before =
      agreement([&](std::span<const float>) { return make_codebook(space, readers, 0, 0, 1).average_user; });
  for (const std::size_t count : {4U, 16U, 64U}) {
    const Rows prototypes = make_prototypes(space, readers, count, 1);
    ASSERT_EQ(prototypes.size(), count);
    const double now =
        agreement([&](std::span<const float> user) { return copy(prototypes[nearest(user, prototypes)]); });
    EXPECT_GT(now, before + 0.03) << count;
    before = now;
  }
  EXPECT_GT(before, 0.8);
}

TEST_F(CodebookOfReaders, EveryPrototypeIsNamedBySomebody) {
  const Rows prototypes = make_prototypes(space, readers, 16, 1);
  std::set<std::size_t> named;
  for (std::size_t i = 0; i < readers.size(); ++i) named.insert(nearest(readers[i], prototypes));
  EXPECT_EQ(named.size(), 16U);
}

TEST_F(CodebookOfReaders, MixturesOfTheBasisByAttentionRankBetterThanTheAverageUser) {
  const Codebook book = make_codebook(space, readers, 8, 5, 1);
  const double average = agreement([&](std::span<const float>) { return book.average_user; });
  const double mixed = agreement([&](std::span<const float> user) {
    std::vector<double> weights;
    double sum = 0;
    for (std::size_t b = 0; b < book.basis.size(); ++b)
      sum += weights.emplace_back(std::exp(dot(user, book.basis[b]) / std::sqrt(6.0)));
    std::vector<float> mixture(user.size());
    for (std::size_t b = 0; b < book.basis.size(); ++b) {
      for (std::size_t j = 0; j < mixture.size(); ++j)
        mixture[j] += static_cast<float>(weights[b] / sum * book.basis[b][j]);
    }
    return mixture;
  });
  EXPECT_GT(mixed, average + 0.1);
}

}  // namespace
}  // namespace sotto::publish
