#include "device/sdk/training.h"

#include <sodium.h>

#include "base/chain_hash.h"
#include "base/secret_file.h"
#include "base/utf8.h"
#include "rounds/enrolment.h"

namespace sotto::device {

namespace {

constexpr std::string_view consent_file = "consent.sotto", identity_file = "identity.sotto",
                           impressions_file = "impressions.sotto", log_file = "public-log.sotto",
                           items_file = "items.sotto";
constexpr std::size_t most_service_bytes = 4096;

std::string encode(const StoredConsent& consent) {
  rounds::FieldWriter fields;
  fields.bytes(consent.operator_key);
  fields.text(consent.service);
  fields.time(consent.given);
  return std::move(fields).take();
}

Result<StoredConsent> decode_consent(std::string_view bytes) {
  rounds::FieldReader fields(bytes);
  StoredConsent consent;
  fields.bytes(consent.operator_key);
  fields.text(consent.service);
  fields.time(consent.given);
  SOTTO_CHECK(fields.finish("consent"));
  return consent;
}

Result<secagg::Identity> read_identity(const fs::path& path) {
  SOTTO_CHECK(check_secret_file(path));
  SOTTO_TRY(std::string bytes, read_file(path, 64));
  if (bytes.size() != 32)
    return bad_input("{} is no device's key: withdraw, and enrol anew with another token", path.string());
  const secagg::Key seed{
      std::span<const std::uint8_t, 32>(reinterpret_cast<const std::uint8_t*>(bytes.data()), 32)};
  sodium_memzero(bytes.data(), bytes.size());
  return secagg::Identity::from_seed(seed);
}

// The key is kept before it is told, and taken again when nobody knows whether the coordinator has heard of
// it: a token serves once.
Result<secagg::Identity> identity_to_enrol(const fs::path& path) {
  if (fs::exists(path)) return read_identity(path);
  SecureRandom random;
  auto identity = secagg::Identity::create(privacy::DeviceRandom(random));
  const secagg::Key seed = identity.seed();
  SOTTO_CHECK(write_file_atomically(path, as_text(seed.view()), FileReaders::owner));
  return identity;
}

}  // namespace

Result<DeviceTraining> DeviceTraining::open(const fs::path& folder, const ImpressionLimits& limits) {
  SOTTO_TRY(auto impressions, ImpressionStore::open(folder / impressions_file, limits));
  DeviceTraining training(folder, std::move(impressions));
  if (!fs::exists(folder / consent_file)) return training;
  SOTTO_TRY(const std::string bytes, read_file(folder / consent_file, most_service_bytes + 256));
  SOTTO_TRY(training.consent_, decode_consent(bytes));
  SOTTO_TRY(training.identity_, read_identity(folder / identity_file));
  return training;
}

Result<bool> DeviceTraining::enrol(RoundTransport& transport, const std::string& token,
                                   const rounds::IdentityKey& operator_key, const std::string& service,
                                   const TrainingPolicy& policy, privacy::UtcTime now, const AskPerson& ask) {
  if (consent_ && consent_->operator_key == operator_key) return true;
  if (consent_)
    return bad_input("this device is enrolled with the operator {}: withdraw there first",
                     to_hex(consent_->operator_key));
  if (service.size() > most_service_bytes || !is_printable(service))
    return bad_input("'{}' is no address of a service", printable(service));
  SOTTO_TRY(const auto opened, rounds::open_token(token));
  if (!ask({operator_key, service, policy, opened.token.first_use})) return false;
  SOTTO_TRY(auto identity, identity_to_enrol(path_of(identity_file)));
  SOTTO_TRY(const auto enrolment, rounds::enrolment_of(token, identity, operator_key));
  SOTTO_TRY(const auto reply, transport.enrol(encode(enrolment)));
  if (reply.kind != RoundTransport::Reply::Kind::answer) {
    std::error_code problem;
    fs::remove(path_of(identity_file), problem);
    return bad_input("the coordinator does not enrol this device: {}", reply.body);
  }
  StoredConsent consent{operator_key, service, now};
  SOTTO_CHECK(write_file_atomically(path_of(consent_file), encode(consent), FileReaders::owner));
  consent_ = std::move(consent);
  identity_.emplace(std::move(identity));
  return true;
}

Status DeviceTraining::withdraw() {
  consent_.reset();
  identity_.reset();
  for (const std::string_view name : {consent_file, identity_file}) {
    std::error_code problem;
    fs::remove(path_of(name), problem);
    if (problem) return failed("cannot remove {}: {}", path_of(name).string(), problem.message());
  }
  return {};
}

Result<Participation> DeviceTraining::take_part(RoundTransport& transport, const Around& around) {
  if (!consent_ || !identity_)
    return bad_input("nobody agreed to train on this device, or it was withdrawn: enrol first");
  SOTTO_TRY(const auto now, around.ledger.time_at(around.clock()));
  SOTTO_CHECK(impressions_.forget_old(now));
  return device::take_part(transport, {.identity = *identity_,
                                       .ledger = around.ledger,
                                       .clock = around.clock,
                                       .operator_key = consent_->operator_key,
                                       .policy = around.policy,
                                       .log_file = path_of(log_file),
                                       .items_file = path_of(items_file),
                                       .impressions = impressions_.impressions(),
                                       .draws = around.draws,
                                       .cancelled = around.cancelled,
                                       .wait = around.wait,
                                       .steady = around.steady});
}

privacy::DeviceRandom SimulatedDraws::noise(std::uint64_t round) {
  noise_.emplace(seed_, Purpose::noise, static_cast<std::uint32_t>(round - 1), user_);
  return privacy::DeviceRandom::simulated(*noise_);
}

RandomSource& SimulatedDraws::examples(std::uint64_t round) {
  examples_.emplace(seed_, Purpose::negative_sampling, static_cast<std::uint32_t>(round - 1), user_);
  return *examples_;
}

}  // namespace sotto::device
