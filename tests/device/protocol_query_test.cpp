#include <gmock/gmock.h>

#include "device/query/query_mechanism.h"
#include "device/small_pack.h"
#include "device/wire/query_wire.h"
#include "privacy/mechanisms/private_attention.h"
#include "test_paths.h"

namespace sotto::device {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

const privacy::UtcTime noon{std::chrono::sys_days{std::chrono::year{2026} / 3 / 14} + 12h};

ReadableHistory random_history(unsigned seed, std::size_t clicks, privacy::CategoryId category = 0) {
  std::mt19937 random(seed);
  ReadableHistory history;
  for (std::size_t i = 0; i < clicks; ++i) history.clicks.push_back({i, {category}});
  history.vectors = testing::random_floats(random, clicks * testing::vector_size);
  return history;
}

QuerySettings settings_for(std::string mechanism, double epsilon = 1) {
  QuerySettings settings;
  settings.mechanism = std::move(mechanism);
  settings.epsilon = epsilon;
  return settings;
}

TEST(QueryMechanism, WithLittleNoiseTellsTheTruth) {
  const DevicePack pack = testing::small_pack();
  const auto model = make_user_model(pack);
  SeededRandom random(1, Purpose::test);
  for (unsigned seed = 0; seed < 20; ++seed) {
    const ReadableHistory history = random_history(seed, seed);
    const auto user = user_vector(*model, pack, history);
    const auto coefficients = QueryMechanism::create(settings_for("coefficients", 1000), pack)
                                  ->draw(history, privacy::DeviceRandom::simulated(random));
    // softmax(u·bᵀ/√d), written plainly, then the post-processing of the noiseless vector.
    std::vector<double> attention(4);
    double sum = 0;
    const std::vector<float> basis = pack.basis.floats();
    for (std::size_t i = 0; i < 4; ++i) {
      double product = 0;
      for (std::size_t j = 0; j < testing::vector_size; ++j)
        product += static_cast<double>(user[j]) * basis[i * testing::vector_size + j];
      sum += attention[i] = std::exp(product / std::sqrt(testing::vector_size));
    }
    double positive = 0;
    for (double& weight : attention) positive += weight = std::log1p(std::exp(weight / sum));
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(std::get<std::vector<float>>(coefficients->answer)[i], attention[i] / positive, 0.02);
    }
    const auto prototype = QueryMechanism::create(settings_for("prototypes", 1000), pack)
                               ->draw(history, privacy::DeviceRandom::simulated(random));
    const auto similarities = *privacy::cosine_similarities(pack.prototypes.floats(), user);
    const auto best = std::max_element(similarities.begin(), similarities.end()) - similarities.begin();
    EXPECT_EQ(std::get<privacy::PrototypeNumbers>(prototype->answer),
              privacy::PrototypeNumbers{static_cast<std::uint32_t>(best)});
  }
}

TEST(QueryMechanism, PaddingReplacesClicksByTheAnonymousItem) {
  DevicePack pack = testing::small_pack(0, "mean");
  pack.anonymous.assign(testing::vector_size, 0);
  std::vector<float> basis(2 * testing::vector_size);
  basis[0] = 1;
  basis[testing::vector_size] = -1;
  pack.basis = *PackTensor::from_floats("basis", {2, testing::vector_size}, basis, NumberForm::f32);
  pack.model = *model_name(pack);
  QuerySettings settings = settings_for("coefficients", 1000);
  ReadableHistory history = random_history(1, 10);
  std::fill(history.vectors.begin(), history.vectors.end(), 3.0F);
  const auto share_of_first = [&](double padding) {
    settings.padding = padding;
    const auto mechanism = QueryMechanism::create(settings, pack);
    SeededRandom random(1, Purpose::test);
    double sum = 0;
    for (int i = 0; i < 400; ++i) {
      sum += std::get<std::vector<float>>(
          mechanism->draw(history, privacy::DeviceRandom::simulated(random))->answer)[0];
    }
    return sum / 400;
  };
  const double all = share_of_first(0);
  const double half = share_of_first(0.5);
  const double few = share_of_first(0.95);
  EXPECT_GT(all, half + 0.01);
  EXPECT_GT(half, few + 0.01);
  EXPECT_GT(few, 0.49);
}

TEST(QueryMechanism, AsksForWhatThePackHas) {
  DevicePack pack = testing::small_pack();
  EXPECT_THAT(QueryMechanism::create(settings_for("prototypes", 0), pack).error().message,
              HasSubstr("epsilon"));
  pack.prototypes = *PackTensor::from_floats("prototypes", {0, testing::vector_size}, {}, NumberForm::f32);
  pack.model = *model_name(pack);
  EXPECT_THAT(QueryMechanism::create(settings_for("prototypes"), pack).error().message,
              HasSubstr("too few prototypes"));
  EXPECT_TRUE(QueryMechanism::create(settings_for("coefficients"), pack));
}

class PrivateQueryTest : public ::testing::Test {
 protected:
  void open(double budget, const std::vector<std::string>& not_sensitive = {"sports"},
            const std::string& name = "") {
    const privacy::LedgerSettings wanted{
        privacy::Unit::user,
        privacy::Adjacency::replace_one,
        privacy::RequestOrder::adaptive,
        *privacy::SensitivitySettings::create({"health", "sports"}, not_sensitive),
        {{privacy::BudgetWindow::lifetime, std::nullopt, budget, 1e-6}}};
    query.reset();
    ledger.emplace(*privacy::Ledger::create(folder / ("ledger" + name), wanted, noon,
                                            privacy::LedgerOptions{nullptr, true}));
    query.emplace(*PrivateQuery::open(folder / ("answers" + name), *ledger, settings_for("prototypes"), 0s,
                                      privacy::DeviceRandom::simulated(random)));
  }
  TempFolder folder;
  SeededRandom random{1, Purpose::test};
  std::optional<privacy::Ledger> ledger;
  std::optional<PrivateQuery> query;
  DevicePack pack = testing::small_pack();
};

TEST_F(PrivateQueryTest, PaysOncePerPeriodAndIsRefreshedByTheClockAlone) {
  open(3);
  const auto mechanism = QueryMechanism::create(settings_for("prototypes"), pack);
  const auto first = **query->ask(*mechanism, random_history(1, 5), noon);
  EXPECT_TRUE(first.is_new);
  EXPECT_EQ(ledger->records(), 2U);  // settings and one charge
  // Another history, another pack, even another mechanism: the same answer until the period ends.
  for (unsigned i = 2; i < 30; ++i) {
    const auto again = **query->ask(*mechanism, random_history(i, i), noon + 10min);
    EXPECT_FALSE(again.is_new);
    EXPECT_EQ(again.query, first.query);
  }
  EXPECT_EQ(ledger->records(), 2U);
  EXPECT_TRUE((**query->ask(*mechanism, random_history(1, 5), noon + 24h)).is_new);
  EXPECT_TRUE((**query->ask(*mechanism, random_history(1, 5), noon + 48h)).is_new);
  EXPECT_EQ(ledger->records(), 4U);
  // ε = 3 is spent: the last answer goes on.
  const auto spent = **query->ask(*mechanism, random_history(9, 5), noon + 72h);
  EXPECT_TRUE(spent.expired);
  EXPECT_EQ(ledger->records(), 4U);
}

TEST_F(PrivateQueryTest, HasNoAnswerWhenTheBudgetNeverSufficed) {
  open(0.5);
  const auto mechanism = QueryMechanism::create(settings_for("prototypes"), pack);
  const auto answer = query->ask(*mechanism, random_history(1, 5), noon);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_FALSE(answer->has_value());
  EXPECT_EQ(ledger->records(), 1U);
}

TEST_F(PrivateQueryTest, TheChargeDependsOnSettingsNotOnClicks) {
  for (const unsigned clicks : {0U, 1U, 20U}) {
    for (const privacy::CategoryId category : {privacy::CategoryId{0}, privacy::CategoryId{1}}) {
      open(3, {"sports"}, std::to_string(clicks) + "-" + std::to_string(category));
      const auto mechanism = QueryMechanism::create(settings_for("prototypes"), pack);
      EXPECT_TRUE(*query->ask(*mechanism, random_history(1, clicks, category), noon));
      EXPECT_EQ(ledger->refusals(mechanism->release(ledger->settings()), noon)->size(), 0U);
      EXPECT_EQ(ledger->records(), 2U);
    }
  }
}

TEST_F(PrivateQueryTest, AFreeQueryUsesUnprotectedClicksExclusively) {
  open(1e-6);  // nothing could be paid
  QuerySettings settings = settings_for("coefficients", 0);
  settings.reads = "unprotected";
  const auto mechanism = QueryMechanism::create(settings, pack);
  ASSERT_TRUE(mechanism) << mechanism.error().message;
  ReadableHistory sports = random_history(1, 8, 1);
  // The same with sensitive clicks between and behind: more of them than the model reads.
  ReadableHistory mixed;
  std::mt19937 noise(5);
  for (std::size_t i = 0; i < 8; ++i) {
    for (int other = 0; other < 5; ++other) {
      mixed.clicks.push_back({mixed.clicks.size(), other % 2 == 0 ? std::vector<privacy::CategoryId>{0}
                                                                  : std::vector<privacy::CategoryId>{}});
      const auto vector = testing::random_floats(noise, testing::vector_size);
      mixed.vectors.insert(mixed.vectors.end(), vector.begin(), vector.end());
    }
    mixed.clicks.push_back({mixed.clicks.size(), {1}});
    mixed.vectors.insert(
        mixed.vectors.end(), sports.vectors.begin() + static_cast<std::ptrdiff_t>(i * testing::vector_size),
        sports.vectors.begin() + static_cast<std::ptrdiff_t>((i + 1) * testing::vector_size));
  }
  const auto sensitivity = ledger->settings().sensitivity;
  EXPECT_EQ(*mechanism->draw_unprotected(mixed, sensitivity),
            *mechanism->draw_unprotected(sports, sensitivity));
  EXPECT_FALSE(mechanism->draw(mixed, privacy::DeviceRandom::simulated(random)));

  const auto answer = query->ask(*mechanism, mixed, noon);
  ASSERT_TRUE(answer && *answer) << answer.error().message;
  EXPECT_EQ((**answer).query, *mechanism->draw_unprotected(sports, sensitivity));
}

TEST_F(PrivateQueryTest, AFreeQueryNeedsACategoryThatIsNotSensitive) {
  open(1, {});
  QuerySettings settings = settings_for("prototypes", 0);
  settings.reads = "unprotected";
  const auto answer = query->ask(*QueryMechanism::create(settings, pack), random_history(1, 5), noon);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("no category is marked as not sensitive"));
}

// What a device has drawn and paid for outlives a newer program: these are the bytes of its file.
TEST(StoredQuery, EveryFormIsReadBackAndOldOnesStayReadable) {
  using namespace std::string_literals;
  const std::vector<std::pair<DrawnQuery, std::string>> stored = {
      {{"m", privacy::BasisWeights{0.25F, 0.75F}}, "\x01\0m\x01\0\0\x80\x3e\0\0\x40\x3f"s},
      {{"m", privacy::PrototypeNumbers{258}}, "\x01\0m\x02\x02\x01\0\0"s},
      {{"m", privacy::PopularQuery{}}, "\x01\0m\x03"s},
      {{"m", privacy::MechanismQuery{"own", "\xff"}}, "\x01\0m\x04\x03\0own\xff"s}};
  for (const auto& [query, bytes] : stored) {
    EXPECT_EQ(encode(query), bytes);
    EXPECT_EQ(*decode_drawn_query(bytes), query);
    EXPECT_FALSE(decode_drawn_query(bytes.substr(0, 4) == bytes ? bytes + 'x' : bytes.substr(0, 3)));
  }
  for (const std::string& damaged : {"\x01\0m\x02"s, "\x01\0m\x05"s, "\x01\0m\x01\0\0\x80\xbe"s})
    EXPECT_FALSE(decode_drawn_query(damaged));
}

TEST(QueryWire, BodiesRoundTripAndRefuseNonsense) {
  RecommendRequest request;
  request.model = "m";
  request.count = 10;
  request.query = std::vector<float>{0.25F, 0.75F};
  request.categories = {"sports"};
  request.published_after = 7;
  request.language = "en";
  EXPECT_EQ(*decode_recommend_request(encode(request)), request);
  request.query = std::vector<std::uint32_t>{3, 4};
  EXPECT_EQ(*decode_recommend_request(encode(request)), request);
  request.query = privacy::MechanismQuery{"blind", std::string("\0\xff opaque", 9)};
  EXPECT_EQ(*decode_recommend_request(encode(request)), request);
  request.query = privacy::PopularQuery{};
  EXPECT_EQ(*decode_recommend_request(encode(request)), request);

  const auto refusal = [&](auto change) {
    RecommendRequest bad = request;
    change(bad);
    const auto read = decode_recommend_request(encode(bad));
    return read ? "accepted" : read.error().message;
  };
  EXPECT_THAT(refusal([](auto& r) { r.query = std::vector<float>{}; }), HasSubstr("coefficients"));
  EXPECT_THAT(refusal([](auto& r) { r.query = std::vector<float>{0.5F, 0.6F}; }), HasSubstr("sum to 1"));
  EXPECT_THAT(refusal([](auto& r) {
                r.query = std::vector<float>{-0.5F, 1.5F};
              }),
              HasSubstr("between 0 and 1"));
  EXPECT_THAT(refusal([](auto& r) { r.query = std::vector<float>{std::nanf(""), 1}; }), HasSubstr("between"));
  EXPECT_THAT(refusal([](auto& r) { r.query = std::vector<std::uint32_t>(65); }), HasSubstr("prototypes"));
  EXPECT_THAT(refusal([](auto& r) {
                r.query = privacy::MechanismQuery{"", "x"};
              }),
              HasSubstr("does not name its mechanism"));
  EXPECT_THAT(refusal([](auto& r) {
                r.query = privacy::MechanismQuery{"m", std::string(WireLimits::mechanism_bytes + 1, 'x')};
              }),
              HasSubstr("at most"));
  EXPECT_THAT(refusal([](auto& r) { r.count = 0; }), HasSubstr("items"));
  EXPECT_THAT(refusal([](auto& r) { r.count = 4'000'000'000; }), HasSubstr("items"));
  EXPECT_THAT(refusal([](auto& r) { r.model = ""; }), HasSubstr("does not name the model"));
  EXPECT_THAT(refusal([](auto& r) { r.categories.assign(65, "x"); }), HasSubstr("categories"));
  EXPECT_THAT(refusal([](auto& r) { r.language = "\x1b[2J"; }), HasSubstr("language"));

  const RecommendAnswer answer{"m", {"N1", "N2"}, {2, 1}};
  EXPECT_EQ(*decode_recommend_answer(encode(answer)), answer);
  EXPECT_FALSE(decode_recommend_answer(encode(RecommendAnswer{"m", {"N1"}, {1, 2}})));
  EXPECT_FALSE(decode_recommend_answer(encode(RecommendAnswer{"m", {"N1"}, {std::nanf("")}})));
  EXPECT_FALSE(decode_recommend_answer(encode(request)));
  std::mt19937 random(1);
  const std::string bytes = encode(request);
  for (int i = 0; i < 5000; ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    if (const auto read = decode_recommend_request(damaged)) {
      EXPECT_TRUE(check(*read));
    }
  }
}

}  // namespace
}  // namespace sotto::device
