#include "device/query/query_mechanism.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/byte_codec.h"

namespace sotto::device {

namespace {

// The byte behind the model's name. Files of devices hold these numbers.
enum : std::uint8_t { coefficients_form = 1, prototypes_form = 2, popular_form = 3, mechanism_form = 4 };

struct Writer {
  ByteWriter& bytes;
  void operator()(const privacy::BasisWeights& weights) const {
    bytes.number<std::uint8_t>(coefficients_form);
    for (const float weight : weights) bytes.number(std::bit_cast<std::uint32_t>(weight));
  }
  void operator()(const privacy::PrototypeNumbers& numbers) const {
    bytes.number<std::uint8_t>(prototypes_form);
    for (const std::uint32_t number : numbers) bytes.number(number);
  }
  void operator()(const privacy::PopularQuery&) const { bytes.number<std::uint8_t>(popular_form); }
  void operator()(const privacy::MechanismQuery& own) const {
    bytes.number<std::uint8_t>(mechanism_form);
    bytes.text(own.mechanism);
    bytes.raw(own.bytes);
  }
};

Result<privacy::ServingQuery> read_answer(ByteReader& reader) {
  switch (reader.number<std::uint8_t>()) {
    case coefficients_form: {
      privacy::BasisWeights weights(reader.left() / sizeof(float));
      for (float& weight : weights) {
        weight = std::bit_cast<float>(reader.number<std::uint32_t>());
        if (!(weight >= 0 && weight <= 1)) return bad_input("the stored answer holds {}", weight);
      }
      return weights;
    }
    case prototypes_form: {
      privacy::PrototypeNumbers numbers(reader.left() / sizeof(std::uint32_t));
      for (std::uint32_t& number : numbers) number = reader.number<std::uint32_t>();
      if (numbers.empty()) return bad_input("the stored answer names no prototype");
      return numbers;
    }
    case popular_form:
      return privacy::PopularQuery{};
    case mechanism_form: {
      privacy::MechanismQuery own;
      own.mechanism = reader.text();
      own.bytes = reader.raw(reader.left());
      return own;
    }
    default:
      return bad_input("the stored answer is damaged");
  }
}

}  // namespace

std::string encode(const DrawnQuery& query) {
  ByteWriter writer;
  writer.text(query.model);
  std::visit(Writer{writer}, query.answer);
  return std::move(writer).take();
}

Result<DrawnQuery> decode_drawn_query(std::string_view bytes) {
  ByteReader reader(bytes);
  DrawnQuery query;
  query.model = reader.text();
  SOTTO_TRY(query.answer, read_answer(reader));
  if (!reader.complete()) return bad_input("the stored answer is damaged");
  return query;
}

namespace {

// A query on unprotected clicks is exact. Were it ever priced as if it touched protected ones, no budget
// could pay for it.
constexpr double no_protection = 1e9;

std::vector<std::uint64_t> all_rows(const ReadableHistory& history) {
  std::vector<std::uint64_t> all;
  all.reserve(history.clicks.size());
  for (const privacy::CategorisedClick& click : history.clicks) all.push_back(click.item);
  return all;
}

}  // namespace

privacy::PublicVectors public_vectors(const DevicePack& pack) {
  return {pack.dimension, pack.basis.floats(), pack.prototypes.floats(), pack.average_user};
}

std::vector<float> newest_rows(const ReadableHistory& history, std::span<const std::uint64_t> chosen,
                               std::size_t count, std::size_t dimension) {
  chosen = chosen.last(std::min(chosen.size(), count));
  std::vector<float> rows;
  rows.reserve(chosen.size() * dimension);
  for (const std::uint64_t row : chosen) {
    const auto begin = history.vectors.begin() + static_cast<std::ptrdiff_t>(row * dimension);
    rows.insert(rows.end(), begin, begin + static_cast<std::ptrdiff_t>(dimension));
  }
  return rows;
}

std::vector<float> user_vector(const UserModel& model, const DevicePack& pack,
                               const ReadableHistory& history) {
  return model.encode(newest_rows(history, all_rows(history), pack.user_model.max_history, pack.dimension));
}

struct QueryMechanism::Parts {
  std::string model;
  std::size_t dimension = 0;
  std::size_t max_history = 0;
  UserModel user_model;
  std::vector<float> anonymous;
  std::unique_ptr<const privacy::ServingMechanism> mechanism;
};

Result<QueryMechanism> QueryMechanism::create(const QuerySettings& settings, const DevicePack& pack,
                                              privacy::ServingMechanisms table) {
  SOTTO_CHECK(check(pack));
  SOTTO_TRY(auto user_model, make_user_model(pack));
  SOTTO_TRY(const auto* entry, privacy::find_mechanism(table, settings.mechanism));
  SOTTO_TRY(auto mechanism,
            entry->make(settings.of_mechanism(),
                        std::make_shared<const privacy::PublicVectors>(public_vectors(pack))));
  return QueryMechanism(
      std::make_shared<const Parts>(Parts{pack.model, pack.dimension, pack.user_model.max_history, user_model,
                                          pack.anonymous, std::move(mechanism)}));
}

std::optional<privacy::PrivacyEvent> QueryMechanism::event() const {
  const auto price = parts_->mechanism->price();
  return price ? std::optional(price->history) : std::nullopt;
}

privacy::Release QueryMechanism::release(const privacy::LedgerSettings& ledger) const {
  privacy::Release release;
  release.purpose = privacy::ReleasePurpose::serving;
  release.about = "recommendations";
  if (const auto price = parts_->mechanism->price()) {
    release.event = ledger.unit == privacy::Unit::click ? price->click : price->history;
    return release;
  }
  release.event = {privacy::PureDp{no_protection}, privacy::Adjacency::replace_one, privacy::Unit::user};
  release.reads.emplace();
  const privacy::SensitivitySettings& sensitivity = ledger.sensitivity;
  for (std::size_t id = 0; id < sensitivity.categories().size(); ++id) {
    if (!sensitivity.is_sensitive(static_cast<privacy::CategoryId>(id)))
      release.reads->push_back(sensitivity.categories()[id]);
  }
  return release;
}

Result<DrawnQuery> QueryMechanism::draw(const ReadableHistory& history, privacy::DeviceRandom random) const {
  if (!event()) return bad_input("this query reads unprotected clicks only");
  std::vector<float> clicks = newest_rows(history, all_rows(history), parts_->max_history, parts_->dimension);
  SOTTO_TRY(const auto padded, parts_->mechanism->pad(clicks.size() / parts_->dimension, random));
  for (std::size_t i = 0; i < padded.size(); ++i) {
    if (padded[i] == 0) continue;
    std::copy(parts_->anonymous.begin(), parts_->anonymous.end(),
              clicks.begin() + static_cast<std::ptrdiff_t>(i * parts_->dimension));
  }
  SOTTO_TRY(auto answer, parts_->mechanism->draw(parts_->user_model.encode(clicks), random));
  return DrawnQuery{parts_->model, std::move(answer)};
}

Result<DrawnQuery> QueryMechanism::draw_unprotected(const ReadableHistory& history,
                                                    const privacy::SensitivitySettings& sensitivity) const {
  // Left out before the newest are taken: how many were left out must not show.
  const auto unprotected = privacy::UnprotectedClicks::from(history.clicks, sensitivity);
  SOTTO_TRY(auto answer, parts_->mechanism->exact(parts_->user_model.encode(newest_rows(
                             history, unprotected.items(), parts_->max_history, parts_->dimension))));
  return DrawnQuery{parts_->model, std::move(answer)};
}

namespace {
// The same for every person, as an answer cache wants it.
constexpr std::string_view kind = "recommendations";
}  // namespace

Result<PrivateQuery> PrivateQuery::open(const std::filesystem::path& answers, privacy::Ledger& ledger,
                                        const QuerySettings& settings, std::chrono::seconds phase,
                                        privacy::DeviceRandom random) {
  const std::chrono::seconds period(std::llround(settings.refresh_hours * 3600));
  SOTTO_TRY(auto cache, privacy::AnswerCache::open(answers, ledger, {period, phase}));
  return PrivateQuery(ledger, std::move(cache), random);
}

Result<std::optional<PaidQuery>> PrivateQuery::ask(const QueryMechanism& mechanism,
                                                   const ReadableHistory& history,
                                                   const privacy::ClockReading& now) {
  const privacy::LedgerSettings settings = ledger_->settings();
  const privacy::Release release = mechanism.release(settings);
  if (release.reads && release.reads->empty()) {
    return bad_input(
        "no category is marked as not sensitive, so there are no unprotected clicks to ask with");
  }
  const auto draw = [&](const privacy::Receipt& receipt) -> Result<std::string> {
    DrawnQuery query;
    if (receipt.is_free()) {
      SOTTO_TRY(query, mechanism.draw_unprotected(history, settings.sensitivity));
    } else {
      SOTTO_CHECK(receipt.covers(privacy::ReleasePurpose::serving, release.event));
      SOTTO_TRY(query, mechanism.draw(history, random_));
    }
    return encode(query);
  };
  auto answer = cache_.get(kind, release, now, draw);
  if (!answer) {
    SOTTO_TRY(const auto refusals, ledger_->refusals(release, now));
    if (refusals.empty()) return tl::unexpected(std::move(answer).error());
    return std::nullopt;
  }
  SOTTO_TRY(auto query, decode_drawn_query(answer->bytes));
  return PaidQuery{std::move(query), answer->drawn, answer->valid_until, answer->is_new, answer->expired};
}

}  // namespace sotto::device
