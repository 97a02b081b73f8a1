// The part of a device that agrees, enrols and trains. The files of it are consent.sotto, enrolment.sotto and
// identity.sotto; rounds/participant.h has the rounds.

#include <sodium.h>

#include "base/chain_hash.h"
#include "base/secret_file.h"
#include "device/rounds/round_calls.h"
#include "device/sdk/device_state.h"
#include "device/wire/server_calls.h"
#include "rounds/enrolment.h"
#include "rounds/model_version.h"

namespace sotto::device {

namespace {

constexpr std::size_t most_consent_bytes = 1 << 16, most_enrolment_bytes = 1 << 17;

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

// The operator's keys behind all changes that the log has: for tokens that a later key signed than came with
// the app. Changes prove themselves; that none is missing is seen when a round is offered.
Talk<Result<rounds::OperatorKeys>> keys_of_log(Exchange& exchange, rounds::OperatorKeys keys) {
  for (std::uint64_t from = 0;;) {
    SOTTO_CO_TRY(const ServerAnswer answer, co_await exchange.send(log_call(from)));
    if (answer.status != 200) co_return refused("coordinator", answer);
    SOTTO_CO_TRY(const auto page, rounds::decode_log_page(answer.body));
    if (page.first != from || page.entries.empty()) co_return keys;
    for (const rounds::LogLeaf& leaf : page.entries) {
      const std::uint64_t index = from++;
      if (leaf.kind != rounds::LeafKind::keys) continue;
      SOTTO_CO_TRY(const ServerAnswer document, co_await exchange.send(blob_call(leaf.hash)));
      if (document.status != 200) co_return refused("coordinator", document);
      if (rounds::blob_hash(document.body) != leaf.hash)
        co_return bad_input("the coordinator sent other bytes than {} names", to_hex(leaf.hash));
      if (const auto change = rounds::open_key_change(document.body))
        static_cast<void>(keys.follow(*change, index));
    }
  }
}

}  // namespace

Status Device::State::read_agreements() {
  if (fs::exists(path_of(file_names::consent))) {
    SOTTO_TRY(const std::string bytes, read_file(path_of(file_names::consent), most_consent_bytes));
    // What cannot be read was not agreed to.
    if (auto given = decode_consent(bytes)) consent = std::move(*given);
  }
  if (!fs::exists(path_of(file_names::enrolment))) return {};
  SOTTO_TRY(const std::string enrolled, read_file(path_of(file_names::enrolment), most_enrolment_bytes));
  SOTTO_TRY(auto keys, rounds::OperatorKeys::decode(enrolled));
  operator_keys = std::make_shared<rounds::OperatorKeys>(std::move(keys));
  SOTTO_TRY(auto key, read_identity(path_of(file_names::identity)));
  identity = std::make_shared<const secagg::Identity>(std::move(key));
  return {};
}

Status Device::State::may_ask() const {
  if (!consent) return bad_input("nobody agreed that this device may ask a server, or it was withdrawn");
  return check_asking(*consent, settings);
}

Status Device::State::may_train() const {
  if (!consent) return bad_input("nobody agreed that this device may train, or it was withdrawn");
  return check_training(*consent, settings);
}

std::optional<std::string> Device::State::unmet_condition() const {
  if (!environment.conditions) return std::nullopt;
  const Conditions now = environment.conditions();
  const TrainingSettings& wanted = settings.training;
  if (wanted.only_idle && !now.idle) return "the device is in use";
  if (wanted.only_unmetered && !now.unmetered) return "bytes cost something here";
  if (wanted.only_charging && !now.charging) return "the device does not charge";
  return std::nullopt;
}

ConsentTerms Device::terms(std::string service, std::string purpose, Scope scope) const {
  return terms_of(state_->settings, std::move(service), std::move(purpose), scope.training, scope.asking);
}

Status Device::agree(const ConsentTerms& terms) {
  SOTTO_CHECK(validate(terms));
  const Consent given{terms, state_->now().wall};
  const Consent offered{
      terms_of(state_->settings, terms.service, terms.purpose, terms.training, terms.asking), given.given};
  if (encode(given) != encode(offered))
    return bad_input("the limits that were shown are not those of the settings: show them, and ask again");
  SOTTO_CHECK(write_file_atomically(state_->path_of(file_names::consent), encode(given), FileReaders::owner));
  state_->consent = given;
  return {};
}

const std::optional<Consent>& Device::consent() const { return state_->consent; }

Status Device::withdraw() {
  state_->consent.reset();
  state_->operator_keys.reset();
  state_->identity.reset();
  for (const std::string_view name : {file_names::consent, file_names::enrolment, file_names::identity})
    SOTTO_CHECK(remove_file(state_->path_of(name)));
  return {};
}

Talk<Status> Device::State::enrol(Exchange& exchange, std::string token, rounds::OperatorKeys pinned) {
  SOTTO_CO_CHECK(may_train());
  SOTTO_CO_TRY(const auto opened, rounds::open_token(token));
  if (operator_keys && operator_keys->signer_of(opened)) co_return Status();
  if (operator_keys)
    co_return bad_input("this device is enrolled with the operator {}: withdraw there first",
                        to_hex(operator_keys->current()));
  if (!pinned.signer_of(opened)) {
    SOTTO_CO_TRY(pinned, co_await keys_of_log(exchange, pinned));
  }
  const auto signer = pinned.signer_of(opened);
  if (!signer)
    co_return bad_input("the token is not signed by the operator {}: ask for one of this service",
                        to_hex(pinned.current()));
  SOTTO_CO_TRY(auto key, identity_to_enrol(path_of(file_names::identity)));
  SOTTO_CO_TRY(const auto enrolment, rounds::enrolment_of(std::move(token), key, *signer));
  SOTTO_CO_TRY(const ServerAnswer answer, co_await exchange.send(enrol_call(encode(enrolment))));
  SOTTO_CO_CHECK(may_train());  // still
  if (answer.status >= 500 || answer.status == 429) co_return refused("coordinator", answer);
  if (answer.status != 200) {
    SOTTO_CO_CHECK(remove_file(path_of(file_names::identity)));
    co_return bad_input("the coordinator does not enrol this device: {}", error_text(answer));
  }
  SOTTO_CO_CHECK(write_file_atomically(path_of(file_names::enrolment), pinned.encode(), FileReaders::owner));
  operator_keys = std::make_shared<rounds::OperatorKeys>(std::move(pinned));
  identity = std::make_shared<const secagg::Identity>(std::move(key));
  co_return Status();
}

Conversation<void> Device::enrol(std::string token, const rounds::OperatorKeys& pinned) {
  return Conversation<void>(
      [&](Exchange& exchange) { return state_->enrol(exchange, std::move(token), pinned); });
}
Status Device::enrol(Transport& transport, std::string token, const rounds::OperatorKeys& pinned) {
  return carry(enrol(std::move(token), pinned), transport, no_pause);
}

std::optional<rounds::IdentityKey> Device::enrolled_with() const {
  if (!state_->operator_keys) return std::nullopt;
  return state_->operator_keys->current();
}
const secagg::Identity* Device::identity() const { return state_->identity.get(); }

Talk<Result<Participation>> Device::State::train(Exchange& exchange, std::function<bool()> cancelled) {
  SOTTO_CO_CHECK(may_train());
  if (!operator_keys || !identity)
    co_return bad_input("this device is enrolled nowhere: enrol it with an operator's token first");
  if (auto unmet = unmet_condition()) {
    Participation not_now;
    not_now.outcome = Participation::Outcome::not_now;
    not_now.why = *std::move(unmet);
    co_return not_now;
  }
  SOTTO_CO_CHECK(forget_old());
  ParticipantParts parts{
      .identity = identity,
      .ledger = ledger,
      .clock = [this] { return now(); },
      .keys = operator_keys,
      .purpose = consent->terms.purpose,
      .policy = settings.training.policy(),
      .log_file = path_of(file_names::log),
      .keys_file = path_of(file_names::enrolment),
      .items_file = path_of(file_names::items),
      .impressions = pages.impressions(),
      .rows = rows.stored(),
      .draws = environment.round_draws != nullptr ? *environment.round_draws
                                                  : static_cast<RoundDraws&>(secret_draws),
      // Whoever withdraws, or takes the device up, stops a round that is under way.
      .cancelled = [this, asked = std::move(cancelled)] { return !consent || asked() || unmet_condition(); },
      .steady = environment.steady};
  co_return co_await device::take_part(exchange, std::move(parts));
}

Conversation<Participation> Device::take_part(std::function<bool()> cancelled) {
  return Conversation<Participation>(
      [&](Exchange& exchange) { return state_->train(exchange, std::move(cancelled)); });
}
Result<Participation> Device::take_part(Transport& transport, const RoundHooks& hooks) {
  return carry(take_part(hooks.cancelled), transport, hooks.wait);
}

}  // namespace sotto::device
