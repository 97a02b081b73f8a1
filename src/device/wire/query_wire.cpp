#include "device/wire/query_wire.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "device/wire/pack_tables.h"

namespace sotto::device {

namespace {

template <class Offset>
std::string finish(flatbuffers::FlatBufferBuilder& builder, Offset root) {
  builder.Finish(root, pack_tables::pack_identifier);
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

Status check_name(std::string_view name, std::string_view what) {
  if (name.size() > WireLimits::name_bytes || !is_printable(name)) {
    return bad_input("{} is not up to {} bytes of printable UTF-8", what, WireLimits::name_bytes);
  }
  return {};
}

Status check_query(const std::vector<float>& coefficients) {
  if (coefficients.empty() || coefficients.size() > WireLimits::coefficients) {
    return bad_input("a query has 1 to {} coefficients, not {}", WireLimits::coefficients,
                     coefficients.size());
  }
  double sum = 0;
  for (const float coefficient : coefficients) {
    if (!(coefficient >= 0 && coefficient <= 1)) return bad_input("coefficients lie between 0 and 1");
    sum += coefficient;
  }
  if (std::fabs(sum - 1) > 1e-3) return bad_input("coefficients sum to 1, not to {}", sum);
  return {};
}
Status check_query(const std::vector<std::uint32_t>& prototypes) {
  if (prototypes.empty() || prototypes.size() > WireLimits::prototypes) {
    return bad_input("a query has 1 to {} prototypes, not {}", WireLimits::prototypes, prototypes.size());
  }
  return {};
}
Status check_query(const privacy::PopularQuery&) { return {}; }
Status check_query(const privacy::MechanismQuery& own) {
  if (own.mechanism.empty()) return bad_input("the query does not name its mechanism");
  SOTTO_CHECK(check_name(own.mechanism, "the mechanism"));
  if (own.bytes.size() > WireLimits::mechanism_bytes)
    return bad_input("the query of mechanism {} has {} bytes: at most {} are read", own.mechanism,
                     own.bytes.size(), WireLimits::mechanism_bytes);
  return {};
}

}  // namespace

Status check(const RecommendRequest& request) {
  if (request.model.empty()) return bad_input("the request does not name the model that it refers to");
  SOTTO_CHECK(check_name(request.model, "the model version"));
  SOTTO_CHECK(check_name(request.language, "the language"));
  SOTTO_CHECK(std::visit([](const auto& query) { return check_query(query); }, request.query));
  if (request.count == 0 || request.count > WireLimits::count) {
    return bad_input("a request asks for 1 to {} items, not {}", WireLimits::count, request.count);
  }
  if (request.categories.size() > WireLimits::categories) {
    return bad_input("a request names at most {} categories", WireLimits::categories);
  }
  for (const std::string& category : request.categories) SOTTO_CHECK(check_name(category, "a category"));
  return {};
}

std::string encode(const RecommendRequest& request) {
  flatbuffers::FlatBufferBuilder builder(1024);
  const auto model = builder.CreateString(request.model);
  auto kind = wire::Query::popular;
  flatbuffers::Offset<void> query;
  if (const auto* coefficients = std::get_if<std::vector<float>>(&request.query)) {
    kind = wire::Query::coefficients;
    query = wire::CreateCoefficientQuery(builder, builder.CreateVector(*coefficients)).Union();
  } else if (const auto* prototypes = std::get_if<std::vector<std::uint32_t>>(&request.query)) {
    kind = wire::Query::prototypes;
    query = wire::CreatePrototypeQuery(builder, builder.CreateVector(*prototypes)).Union();
  } else if (const auto* own = std::get_if<privacy::MechanismQuery>(&request.query)) {
    kind = wire::Query::mechanism;
    const auto name = builder.CreateString(own->mechanism);
    const auto bytes =
        builder.CreateVector(reinterpret_cast<const std::uint8_t*>(own->bytes.data()), own->bytes.size());
    query = wire::CreateMechanismQuery(builder, name, bytes).Union();
  } else {
    query = wire::CreatePopularQuery(builder).Union();
  }
  const auto categories = request.categories.empty() ? 0 : builder.CreateVectorOfStrings(request.categories);
  const auto language = request.language.empty() ? 0 : builder.CreateString(request.language);
  return finish(builder, wire::CreateRecommendRequest(builder, model, kind, query, request.count, categories,
                                                      request.published_after, language));
}

Result<RecommendRequest> decode_recommend_request(std::string_view bytes) {
  if (bytes.size() > WireLimits::request_bytes) return bad_input("the request is too large");
  const AlignedBytes aligned(bytes);
  flatbuffers::Verifier verifier(aligned.data(), aligned.size());
  if (!verifier.VerifyBuffer<wire::RecommendRequest>(pack_tables::pack_identifier)) {
    return bad_input("the body is not a RecommendRequest");
  }
  const auto& table = *flatbuffers::GetRoot<wire::RecommendRequest>(aligned.data());
  RecommendRequest request;
  request.model = table.model()->str();
  switch (table.query_type()) {
    case wire::Query::coefficients:
      request.query = pack_tables::read(*table.query_as_coefficients()->coefficients());
      break;
    case wire::Query::prototypes:
      request.query = pack_tables::read(*table.query_as_prototypes()->prototypes());
      break;
    case wire::Query::popular:
      request.query = privacy::PopularQuery{};
      break;
    case wire::Query::mechanism: {
      const auto& own = *table.query_as_mechanism();
      request.query = privacy::MechanismQuery{
          own.mechanism()->str(), {reinterpret_cast<const char*>(own.bytes()->data()), own.bytes()->size()}};
      break;
    }
    default:
      return bad_input("the request holds a query of a kind that is not known here");
  }
  request.count = table.count();
  if (table.categories() != nullptr) request.categories = pack_tables::read(*table.categories());
  request.published_after = table.published_after();
  if (table.language() != nullptr) request.language = table.language()->str();
  SOTTO_CHECK(check(request));
  return request;
}

std::string encode(const RecommendAnswer& answer) {
  flatbuffers::FlatBufferBuilder builder(1024 + 24 * answer.items.size());
  const auto model = builder.CreateString(answer.model);
  const auto items = builder.CreateVectorOfStrings(answer.items);
  const auto scores = builder.CreateVector(answer.scores);
  return finish(builder, wire::CreateRecommendAnswer(builder, model, items, scores));
}

Result<RecommendAnswer> decode_recommend_answer(std::string_view bytes) {
  if (bytes.size() > WireLimits::answer_bytes) return bad_input("the answer is too large");
  const AlignedBytes aligned(bytes);
  flatbuffers::Verifier verifier(aligned.data(), aligned.size());
  if (!verifier.VerifyBuffer<wire::RecommendAnswer>(pack_tables::pack_identifier)) {
    return bad_input("the body is not a RecommendAnswer");
  }
  const auto& table = *flatbuffers::GetRoot<wire::RecommendAnswer>(aligned.data());
  if (table.items()->size() != table.scores()->size() || table.items()->size() > WireLimits::count) {
    return bad_input("the answer has {} items and {} scores", table.items()->size(), table.scores()->size());
  }
  RecommendAnswer answer{table.model()->str(), pack_tables::read(*table.items()),
                         pack_tables::read(*table.scores())};
  SOTTO_CHECK(check_name(answer.model, "the model version"));
  for (const std::string& item : answer.items) SOTTO_CHECK(check_name(item, "an item id"));
  if (!std::all_of(answer.scores.begin(), answer.scores.end(),
                   [](float score) { return std::isfinite(score); })) {
    return bad_input("the answer has scores that are not finite");
  }
  return answer;
}

RecommendRequest request_of(const DrawnQuery& query, std::uint32_t count) {
  RecommendRequest request;
  request.model = query.model;
  request.count = count;
  request.query = query.answer;
  return request;
}

}  // namespace sotto::device
