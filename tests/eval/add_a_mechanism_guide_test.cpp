// docs/guides/add-a-mechanism.md, followed: its blocks stand here line for line. One file and one line of the
// table are all that device, wire, server, audit and experiment need.

#ifdef SOTTO_HAVE_PROTOCOL

#include <gmock/gmock.h>

#include "device/device.h"
#include "device/small_pack.h"
#include "device/wire/pack_codec.h"
#include "device/wire/query_wire.h"
#include "eval/experiments/serving/serving_report.h"
#include "eval/impression_evaluator.h"
#include "eval/serving_fixture.h"
#include "fl/tiny_news.h"
#include "privacy/audit/audited_mechanism.h"
#include "privacy/audit/mechanism_subjects.h"
#include "privacy/ledger/ledger_statement.h"
#include "privacy/mechanisms/choice_release.h"
#include "privacy/mechanisms/softmax.h"
#include "serving/pool/live_pool.h"

namespace sotto::eval {
namespace {

using ::testing::HasSubstr;

class NearestBasis final : public privacy::ServingMechanism {
 public:
  static Result<std::unique_ptr<const privacy::ServingMechanism>> make(
      const privacy::MechanismSettings& settings, std::shared_ptr<const privacy::PublicVectors> vectors) {
    const std::size_t rows = vectors->basis_rows();
    if (rows < 2 || rows > 256)
      return bad_input("nearest-basis needs 2 to 256 basis vectors; the model has {}", rows);
    auto made = std::make_unique<NearestBasis>(std::move(vectors));
    if (settings.epsilon) {
      SOTTO_TRY(made->response_, privacy::KaryResponse::create(*settings.epsilon, rows));
    }
    return made;
  }

  explicit NearestBasis(std::shared_ptr<const privacy::PublicVectors> vectors)
      : vectors_(std::move(vectors)) {}

  std::optional<Price> price() const override {
    if (!response_) return std::nullopt;
    return Price{response_->event(), response_->event()};
  }

  Result<privacy::ServingQuery> draw(std::span<const float> user,
                                     privacy::DeviceRandom random) const override {
    if (!response_) return bad_input("nearest-basis cannot be drawn without epsilon");
    SOTTO_TRY(const std::uint64_t told, response_->respond(nearest_to(user), random));
    return query(told);
  }

  Result<privacy::ServingQuery> exact(std::span<const float> user) const override {
    return query(nearest_to(user));
  }

 private:
  std::uint64_t nearest_to(std::span<const float> user) const {
    const auto weights = privacy::attention_over(vectors_->basis, user);
    return static_cast<std::uint64_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  }
  static privacy::ServingQuery query(std::uint64_t row) {
    return privacy::MechanismQuery{"nearest-basis", std::string(1, static_cast<char>(row))};
  }

  std::shared_ptr<const privacy::PublicVectors> vectors_;
  std::optional<privacy::KaryResponse> response_;  // none without ε
};

// The server ranks by that basis vector alone.
Result<privacy::ServerEstimate> read_nearest_basis(std::string_view bytes,
                                                   const privacy::PublicVectors& vectors) {
  const std::size_t row = bytes.size() == 1 ? static_cast<unsigned char>(bytes[0]) : vectors.basis_rows();
  if (row >= vectors.basis_rows())
    return bad_input("a query of nearest-basis is one byte below {}", vectors.basis_rows());
  privacy::BasisWeights weights(vectors.basis_rows());
  weights[row] = 1;
  return weights;
}

// Readers who are nearest to different ones of four.
privacy::WorstCase opposite_basis() {
  privacy::WorstCase worst;
  worst.settings.epsilon = 1;
  worst.vectors.dimension = 4;
  worst.vectors.basis = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  worst.users = {std::vector<float>{1, 0, 0, 0}, std::vector<float>{0, 1, 0, 0}};
  return worst;
}

privacy::ServingMechanismEntry nearest_basis_mechanism() {
  return {.name = "nearest-basis",
          .summary = "the basis vector nearest to the reader",
          .make = &NearestBasis::make,
          .read = &read_nearest_basis,
          .worst_case = &opposite_basis,
          .sizes = {privacy::MeasuredSizes::Of::basis, {3, 5}, {5}}};
}

std::vector<privacy::ServingMechanismEntry> table_with_one_more() {
  const auto shipped = privacy::serving_mechanisms();
  std::vector<privacy::ServingMechanismEntry> table(shipped.begin(), shipped.end());
  table.push_back(nearest_basis_mechanism());
  return table;
}

class OneMoreMechanism : public ::testing::Test {
 protected:
  const std::vector<privacy::ServingMechanismEntry> table = table_with_one_more();
  TempFolder folder;
};

// The server of src/serving without HTTP before it.
class ServerInProcess final : public device::Transport {
 public:
  ServerInProcess(const fs::path& folder, const device::DevicePack& pack, privacy::ServingMechanisms table) {
    auto model = serving::model_of(pack, 0, nullptr, table).value();
    pool_ = serving::LivePool::open(folder, model, {.catalogue = {.durability = Durability::process_end}})
                .value();
    std::vector<serving::CatalogueItem> items(pack.items.size());
    const std::vector<float> vectors = pack.items.vectors.floats();
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto row = vectors.begin() + static_cast<std::ptrdiff_t>(i * pack.dimension);
      items[i].id = pack.items.ids[i];
      items[i].title = pack.items.ids[i];
      items[i].published = static_cast<std::int64_t>(pack.items.published[i]);
      items[i].vector.assign(row, row + pack.dimension);
      items[i].encoded_by = pack.model;
    }
    const auto stored = pool_->put(std::move(items));
    if (!stored) throw std::runtime_error(stored.error().message);
  }

  Result<device::ServerAnswer> send(const device::ServerCall& call) override {
    SOTTO_TRY(const auto request, device::decode_recommend_request(call.body));
    heard = request.query;
    const auto pool = pool_->of_version(request.model);
    SOTTO_TRY(const auto query, pool->query_for(request.query, request.count, {}));
    ranked_by = query.coefficients;
    SOTTO_TRY(const auto found, pool->search(query));
    device::RecommendAnswer answer{request.model, {}, {}};
    for (const auto& item : pool_->catalogue().find(found)) answer.items.push_back(item->item.id);
    answer.scores.resize(answer.items.size());
    return device::ServerAnswer{200, encode(answer)};
  }

  privacy::ServingQuery heard;
  privacy::BasisWeights ranked_by;

 private:
  std::unique_ptr<serving::LivePool> pool_;
};

TEST_F(OneMoreMechanism, IsDrawnChargedSentAndRankedBy) {
  const device::DevicePack pack = device::testing::small_pack();
  ServerInProcess server(folder / "pool", pack, table);
  SeededRandom random(1, Purpose::test);
  device::DeviceSettings settings;
  settings.query.mechanism = "nearest-basis";
  settings.query.epsilon = 2;
  settings.lifetime_epsilon = 3;
  device::DeviceEnvironment host{[] { return privacy::UtcTime(std::chrono::seconds(1'700'000'000)); },
                                 &random};
  host.mechanisms = table;
  host.first_use = true;
  auto device = device::Device::open(folder / "device", settings, host);
  ASSERT_TRUE(device) << device.error().message;
  ASSERT_TRUE(device->agree(device->terms("paper.example", "A page for you", {.asking = true})));
  ASSERT_TRUE(device->install(device::encode_pack(pack).value()));
  ASSERT_TRUE(device->click("N3"));

  const auto page = device->recommend(server, 5);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->source, device::Recommendations::Source::fresh_query) << page->note;
  EXPECT_EQ(page->items.size(), 5U);
  const auto* own = std::get_if<privacy::MechanismQuery>(&server.heard);
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->mechanism, "nearest-basis");
  EXPECT_EQ(own->bytes.size(), 1U);
  ASSERT_EQ(server.ranked_by.size(), pack.basis.rows());
  EXPECT_EQ(server.ranked_by.at(static_cast<unsigned char>(own->bytes[0])), 1);
  // Kept and sent again, and the ledger has it once.
  const privacy::ServingQuery first = server.heard;
  EXPECT_EQ(device->recommend(server, 5)->source, device::Recommendations::Source::repeated_query);
  EXPECT_EQ(server.heard, first);
  const auto statement = device->statement();
  ASSERT_TRUE(statement) << statement.error().message;
  EXPECT_EQ(statement->total.charges, 1U);
  EXPECT_NEAR(statement->total.spent.epsilon, 2, 1e-5);  // its δ pays for the rest
}

TEST_F(OneMoreMechanism, BytesThatItDoesNotUnderstandAreRefusedByTheServer) {
  const privacy::PublicVectors vectors = nearest_basis_mechanism().worst_case().vectors;
  for (const std::string& bytes : {std::string(), std::string("ab"), std::string(1, '\x04')}) {
    EXPECT_FALSE(privacy::estimate(table, privacy::MechanismQuery{"nearest-basis", bytes}, vectors));
  }
  EXPECT_THAT(
      privacy::estimate(privacy::serving_mechanisms(), privacy::MechanismQuery{"prototype", ""}, vectors)
          .error()
          .message,
      HasSubstr("did you mean 'prototypes'?"));
  EXPECT_FALSE(privacy::estimate(table, privacy::MechanismQuery{"prototypes", "a"}, vectors))
      << "it has no bytes of its own";
}

TEST_F(OneMoreMechanism, IsAuditedInItsWorstCase) {
  const auto subject = privacy::subject::served(table.back());
  ASSERT_TRUE(subject) << subject.error().message;
  const auto finding = privacy::audit_mechanism(*subject, {.samples = 40'000, .seed = 3});
  ASSERT_TRUE(finding) << finding.error().message;
  EXPECT_EQ(finding->claim.epsilon, 1);
  EXPECT_FALSE(finding->refuted());
  EXPECT_GE(finding->share(), 0.6);
}

TEST_F(OneMoreMechanism, IsARowOfTheExperiment) {
  namespace study = private_serving;
  const data::Dataset dataset = fl::testing::tiny_news(folder);
  study::ServingScene scene;
  scene.items = publish::testing::normal_items(dataset.item_count());
  scene.readers = publish::testing::normal_readers(400);
  scene.impressions = impressions_of_split(dataset, data::Split::test);
  scene.users = publish::testing::normal_rows(scene.impressions.size(), 6, 7, 0.7F);
  const auto measured = study::ServingTable::create(dataset, scene, {.pool_queries = 5, .answer = 5},
                                                    study::compared_mechanisms(table));
  ASSERT_TRUE(measured) << measured.error().message;
  const auto row = measured->measure({"nearest-basis-pack", 3, 2});
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->privacy.epsilon, 2);
  const double auc = row->measures.at("auc").value;
  EXPECT_TRUE(auc > 0 && auc <= 1) << auc;
  const auto choices = study::ServingPlan::full().choices(study::compared_mechanisms(table), true);
  EXPECT_EQ(std::count_if(choices.begin(), choices.end(),
                          [](const auto& choice) { return choice.mechanism == "nearest-basis-pack"; }),
            5)
      << "every epsilon of a quick run";
}

}  // namespace
}  // namespace sotto::eval

#endif
