#include "bench/secagg/timed_round.h"

#include <memory>

#include "base/random.h"
#include "bench/benchmarks.h"
#include "secagg/client/secagg_client.h"
#include "secagg/server/secagg_server.h"

namespace sotto::bench {

namespace {

constexpr secagg::Digest any_order_hash{1};  // of nothing: only the speed is asked for

class TimedRound {
 public:
  TimedRound(const secagg::GroupParameters& group, const secagg::VectorShape& shape, std::uint32_t lost,
             const std::function<Result<secagg::RingVector>(std::uint32_t)>& input)
      : group_(group), shape_(shape), lost_(lost), input_(input) {}

  Result<RoundTiming> run() {
    auto keys = std::make_shared<std::vector<secagg::IdentityKey>>();
    for (std::uint32_t i = 0; i < group_.clients; ++i) {
      identities_.push_back(secagg::Identity::create(random_));
      keys->push_back(identities_.back().public_key());
    }
    registry_ = std::move(keys);
    SOTTO_TRY(auto server, secagg::SecAggServer::create(group_, shape_, any_order_hash, registry_, random_));
    while (server.phase() != secagg::ServerPhase::done) {
      for (std::uint32_t client = 0; client < group_.clients; ++client) {
        const bool gone = client < lost_ && server.phase() > secagg::ServerPhase::sharing;
        if (!gone && server.takes_part(client)) SOTTO_CHECK(exchange(server, client));
      }
      const double start = wall_seconds();
      SOTTO_CHECK(server.close_phase());
      timing_.server_seconds += wall_seconds() - start;
    }
    timing_.client_seconds /= group_.clients - lost_;
    timing_.bytes_up /= group_.clients - lost_;
    timing_.bytes_down /= group_.clients - lost_;
    timing_.sum = server.sum().entries();
    return std::move(timing_);
  }

 private:
  Status exchange(secagg::SecAggServer& server, std::uint32_t client) {
    double start = wall_seconds();
    SOTTO_TRY(const secagg::Bytes request, server.message_for(client));
    timing_.server_seconds += wall_seconds() - start;

    std::optional<secagg::RingVector> vector;
    if (server.phase() == secagg::ServerPhase::uploading) {
      SOTTO_TRY(vector, input_(client));
    }
    start = thread_seconds();
    SOTTO_TRY(const secagg::Bytes answer, step(server.phase(), client, request, vector));
    const double spent = thread_seconds() - start;
    if (client >= lost_) {
      timing_.client_seconds += spent;
      timing_.bytes_up += static_cast<double>(answer.size());
      timing_.bytes_down += static_cast<double>(request.size());
    }
    start = wall_seconds();
    SOTTO_CHECK(server.receive(client, answer));
    timing_.server_seconds += wall_seconds() - start;
    return {};
  }

  Result<secagg::Bytes> step(secagg::ServerPhase phase, std::uint32_t client, secagg::ByteView request,
                             std::optional<secagg::RingVector>& vector) {
    switch (phase) {
      case secagg::ServerPhase::advertising: {
        const secagg::ClientPolicy policy{.server = group_.server,
                                          .corrupted = static_cast<double>(group_.corrupted) / group_.clients,
                                          .dropped = static_cast<double>(group_.dropped) / group_.clients,
                                          .minimum_alive = group_.minimum_alive,
                                          .order_hash = any_order_hash,
                                          .vector = shape_};
        SOTTO_TRY(auto joined,
                  secagg::SecAggClient::join(request, policy, identities_[client], registry_, random_));
        clients_.push_back(std::move(joined));
        return clients_.back().advertise();
      }
      case secagg::ServerPhase::sharing:
        return clients_[client].share_keys(request);
      case secagg::ServerPhase::uploading:
        return clients_[client].upload(request, std::move(*vector));
      case secagg::ServerPhase::confirming:
        return clients_[client].confirm_arrivals(request);
      case secagg::ServerPhase::unmasking:
        return clients_[client].reveal(request);
      case secagg::ServerPhase::done:
      case secagg::ServerPhase::failed:
        break;
    }
    return failed("the round is over");
  }

  const secagg::GroupParameters group_;
  const secagg::VectorShape shape_;
  const std::uint32_t lost_;
  const std::function<Result<secagg::RingVector>(std::uint32_t)>& input_;
  SecureRandom random_;
  std::vector<secagg::Identity> identities_;
  secagg::GroupIdentities registry_;
  std::vector<secagg::SecAggClient> clients_;
  RoundTiming timing_;
};

}  // namespace

Result<RoundTiming> time_round(const secagg::GroupParameters& group, const secagg::VectorShape& shape,
                               std::uint32_t lost,
                               const std::function<Result<secagg::RingVector>(std::uint32_t)>& input) {
  return TimedRound(group, shape, lost, input).run();
}

}  // namespace sotto::bench
