#include "device/sdk/consent.h"

#include <cmath>
#include <limits>

#include "base/utf8.h"
#include "rounds/document.h"

namespace sotto::device {

namespace {

constexpr std::string_view magic = "SOTTOAGR";
constexpr std::uint64_t version = 1;
constexpr std::size_t most_text_bytes = 4096;

template <class Fields, class Number>
void visit_stated(Fields& fields, secagg::Stated<Number>& stated) {
  if constexpr (std::is_same_v<Number, double>)
    fields.real(stated.value);
  else
    fields.number(stated.value);
}

template <class Fields>
void visit_consent(Fields& fields, Consent& consent) {
  ConsentTerms& terms = consent.terms;
  fields.text(terms.service);
  fields.text(terms.purpose);
  fields.flag(terms.training);
  fields.flag(terms.asking);
  TrainingPolicy& training = terms.training_limits;
  visit_stated(fields, training.epsilon);
  visit_stated(fields, training.delta);
  visit_stated(fields, training.group);
  visit_stated(fields, training.corrupted);
  fields.choice(training.server.value, secagg::ServerModel::semi_honest, secagg::ServerModel::active);
  visit_stated(fields, training.witnesses);
  visit_stated(fields, training.upload_bytes);
  visit_stated(fields, training.training_seconds);
  fields.real(training.security_bits);
  AskingLimits& asking = terms.asking_limits;
  fields.text(asking.ranking);
  fields.real(asking.epsilon);
  fields.real(asking.refresh_hours);
  fields.real(asking.day_epsilon);
  fields.real(asking.month_epsilon);
  fields.real(asking.lifetime_epsilon);
  fields.time(consent.given);
}

AskingLimits asking_limits(const DeviceSettings& settings) {
  return {settings.ranking,     settings.query.epsilon, settings.query.refresh_hours,
          settings.day_epsilon, settings.month_epsilon, settings.lifetime_epsilon};
}

// No budget is none that could run out.
double budget(double epsilon) { return epsilon == 0 ? std::numeric_limits<double>::infinity() : epsilon; }

Status more(std::string_view what, double wanted, double agreed) {
  return bad_input("the settings now say {} {:.6g}, and {:.6g} was agreed to: ask the person again", what,
                   wanted, agreed);
}

}  // namespace

ConsentTerms terms_of(const DeviceSettings& settings, std::string service, std::string purpose, bool training,
                      bool asking) {
  return {std::move(service),         std::move(purpose),     training, asking,
          settings.training.policy(), asking_limits(settings)};
}

Status check_training(const Consent& consent, const DeviceSettings& settings) {
  if (!consent.terms.training)
    return bad_input("its person agreed to be recommended to, not to train: ask for that first");
  const TrainingPolicy now = settings.training.policy();
  const TrainingPolicy& agreed = consent.terms.training_limits;
  const auto most = [](std::string_view what, auto wanted, auto allowed) -> Status {
    if (wanted <= allowed) return {};
    return more(what, static_cast<double>(wanted), static_cast<double>(allowed));
  };
  SOTTO_CHECK(most("training_epsilon", now.epsilon.value, agreed.epsilon.value));
  SOTTO_CHECK(most("training_delta", now.delta.value, agreed.delta.value));
  SOTTO_CHECK(most("most_upload_bytes", now.upload_bytes.value, agreed.upload_bytes.value));
  SOTTO_CHECK(most("most_training_seconds", now.training_seconds.value, agreed.training_seconds.value));
  const auto least = [](std::string_view what, auto wanted, auto demanded) -> Status {
    if (wanted >= demanded) return {};
    return more(what, static_cast<double>(wanted), static_cast<double>(demanded));
  };
  SOTTO_CHECK(least("least_group", now.group.value, agreed.group.value));
  SOTTO_CHECK(least("least_corrupted", now.corrupted.value, agreed.corrupted.value));
  SOTTO_CHECK(least("least_witnesses", now.witnesses.value, agreed.witnesses.value));
  SOTTO_CHECK(least("least_security_bits", now.security_bits, agreed.security_bits));
  if (now.server.value < agreed.server.value)
    return bad_input(
        "the settings now say server_model semi-honest, and active was agreed to: ask the person again");
  return {};
}

Status check_asking(const Consent& consent, const DeviceSettings& settings) {
  if (!consent.terms.asking)
    return bad_input("its person agreed to train, not to ask a server: ask for that first");
  const AskingLimits now = asking_limits(settings);
  const AskingLimits& agreed = consent.terms.asking_limits;
  if (now.ranking == "private" && agreed.ranking != "private")
    return bad_input("the settings now say ranking private, and {} was agreed to: ask the person again",
                     agreed.ranking);
  if (now.ranking != "private") return {};  // an encrypted question and the public list tell nothing
  if (now.epsilon > agreed.epsilon) return more("epsilon", now.epsilon, agreed.epsilon);
  if (now.refresh_hours < agreed.refresh_hours)
    return more("refresh_hours", now.refresh_hours, agreed.refresh_hours);
  if (budget(now.day_epsilon) > budget(agreed.day_epsilon))
    return more("day_epsilon", now.day_epsilon, agreed.day_epsilon);
  if (budget(now.month_epsilon) > budget(agreed.month_epsilon))
    return more("month_epsilon", now.month_epsilon, agreed.month_epsilon);
  if (budget(now.lifetime_epsilon) > budget(agreed.lifetime_epsilon))
    return more("lifetime_epsilon", now.lifetime_epsilon, agreed.lifetime_epsilon);
  return {};
}

Status validate(const ConsentTerms& terms) {
  const auto is_text = [](const std::string& text) {
    return !text.empty() && text.size() <= most_text_bytes && is_printable(text);
  };
  if (!is_text(terms.service))
    return bad_input("'{}' does not say who asks: name the service", printable(terms.service));
  if (!is_text(terms.purpose))
    return bad_input("'{}' does not say what for: a person agrees to a purpose", printable(terms.purpose));
  if (!terms.training && !terms.asking) return bad_input("nothing is agreed to: training, asking, or both");
  return {};
}

std::string encode(const Consent& consent) {
  rounds::FieldWriter fields;
  fields.text(std::string(magic));
  fields.number(version);
  Consent copy = consent;
  visit_consent(fields, copy);
  return std::move(fields).take();
}

Result<Consent> decode_consent(std::string_view bytes) {
  rounds::FieldReader fields(bytes);
  std::string start;
  std::uint64_t said = 0;
  fields.text(start);
  fields.number(said);
  Consent consent{{.training_limits = TrainingSettings().policy()}, {}};
  visit_consent(fields, consent);
  SOTTO_CHECK(fields.finish("consent"));
  if (start != magic || said != version) return bad_input("these bytes are no consent of this version");
  SOTTO_CHECK(validate(consent.terms));
  return consent;
}

}  // namespace sotto::device
