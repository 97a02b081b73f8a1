#include "device/rounds/round_session.h"

#include <sodium.h>

#include "base/chain_hash.h"
#include "rounds/group_invitation.h"
#include "secagg/shared/messages.h"

namespace sotto::device {

std::string_view name(SessionStage stage) {
  switch (stage) {
    case SessionStage::check_in:
      return "check-in";
    case SessionStage::advertise:
      return "advertise";
    case SessionStage::share:
      return "share";
    case SessionStage::upload:
      return "upload";
    case SessionStage::confirm:
      return "confirm";
    case SessionStage::reveal:
      return "reveal";
    case SessionStage::over:
      break;
  }
  return "over";
}

RoundSession::RoundSession(AcceptedRound accepted, std::vector<float> update, SessionDevice device)
    : accepted_(std::move(accepted)), update_(std::move(update)), device_(std::move(device)) {}

RoundSession::~RoundSession() { wipe(); }

void RoundSession::wipe() {
  sodium_memzero(update_.data(), update_.size() * sizeof(float));
  update_.clear();
}

SessionStep RoundSession::next() {
  if (is_over()) return SessionDone{why_};
  if (waits_) {
    waits_ = false;
    return SessionWait{};
  }
  return call_;
}

void RoundSession::end(std::string why) {
  why_ = std::move(why);
  call_ = {SessionStage::over, {}};
  client_.reset();
  wipe();
}

Status RoundSession::received(SessionStage stage, std::optional<secagg::ByteView> answer) {
  if (is_over() || stage < call_.stage) return {};  // a copy that was long on its way
  if (stage > call_.stage)
    return bad_input("an answer to '{}', and '{}' is not answered yet", name(stage), name(call_.stage));
  if (!answer) {
    waits_ = true;
    return {};
  }
  Status went_on = go_on(*answer);
  if (!went_on) end(went_on.error().message);
  return went_on;
}

Status RoundSession::go_on(secagg::ByteView answer) {
  switch (call_.stage) {
    case SessionStage::check_in:
      return join(answer);
    case SessionStage::advertise: {
      SOTTO_TRY(secagg::Bytes shares, client_->share_keys(answer));
      call_ = {SessionStage::share, std::move(shares)};
      return {};
    }
    case SessionStage::share: {
      SOTTO_TRY(secagg::Bytes vector, upload(answer));
      call_ = {SessionStage::upload, std::move(vector)};
      return {};
    }
    case SessionStage::upload: {
      if (!is_active()) break;
      SOTTO_TRY(secagg::Bytes signature, client_->confirm_arrivals(answer));
      call_ = {SessionStage::confirm, std::move(signature)};
      return {};
    }
    case SessionStage::confirm:
      break;
    case SessionStage::reveal:
    case SessionStage::over:
      end({});
      return {};
  }
  SOTTO_TRY(secagg::Bytes shares, client_->reveal(answer));
  call_ = {SessionStage::reveal, std::move(shares)};
  return {};
}

Status RoundSession::join(secagg::ByteView answer) {
  SOTTO_TRY(const auto group, rounds::decode_group_invitation(as_text(answer)));
  const secagg::ByteView bytes = rounds::as_bytes(group.invitation);
  SOTTO_TRY(const secagg::Invitation invitation, secagg::decode_invitation(bytes));
  if (const auto fits = check_group(accepted_, invitation.round); !fits)
    return bad_input("{}", fits.error().message);
  SOTTO_CHECK(device_.check_registered(group.members));
  SOTTO_TRY(client_,
            secagg::SecAggClient::join(
                bytes, accepted_.client, device_.identity,
                std::make_shared<const std::vector<secagg::IdentityKey>>(group.members), device_.keys));
  SOTTO_TRY(secagg::Bytes keys, client_->advertise());
  call_ = {SessionStage::advertise, std::move(keys)};
  return {};
}

Result<secagg::Bytes> RoundSession::upload(secagg::ByteView shares) {
  const privacy::ClockReading now = device_.clock();
  SOTTO_TRY(const rounds::UtcTime time, device_.ledger.time_at(now));
  if (time >= accepted_.order.order.expires)
    return bad_input("the order expired on {}, before the vector was sent",
                     privacy::to_text(accepted_.order.order.expires));
  SOTTO_TRY(const privacy::Receipt receipt, device_.ledger.charge(accepted_.release, now));
  was_charged_ = true;
  SOTTO_CHECK(receipt.covers(accepted_.release.purpose, accepted_.release.event));
  const auto bound = static_cast<float>(accepted_.order.order.bound);
  for (float& number : update_) number /= bound;
  SOTTO_TRY(
      std::vector<std::uint32_t> entries,
      secagg::UpdateEncoder(accepted_.terms.plan).encode(std::span<const float>(update_), device_.noise));
  wipe();
  auto vector = secagg::RingVector::of(entries, accepted_.client.vector.bits);
  sodium_memzero(entries.data(), entries.size() * sizeof entries[0]);
  if (!vector) return tl::unexpected(std::move(vector).error());
  return client_->upload(shares, *std::move(vector));
}

}  // namespace sotto::device
