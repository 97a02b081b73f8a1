#include "bench/secagg/textbook_round.h"

#include <sodium.h>

#include <array>

#include "bench/benchmarks.h"
#include "secagg/shared/key_exchange.h"
#include "secagg/shared/sealed_shares.h"

namespace sotto::bench {

namespace {

const secagg::Digest transcript{};

struct Client {
  secagg::Seed mask_seed, self_seed;
  secagg::KeyPair channel, mask;
  std::vector<secagg::SharePair> held;  // by dealer
};

std::vector<std::uint16_t> expand(const secagg::Key& key, std::size_t entries) {
  std::vector<std::uint16_t> mask(entries);
  const std::array<unsigned char, crypto_stream_chacha20_NONCEBYTES> nonce{};
  crypto_stream_chacha20(reinterpret_cast<unsigned char*>(mask.data()), entries * sizeof(std::uint16_t),
                         nonce.data(), key.data());
  return mask;
}

void add(std::vector<std::uint16_t>& vector, const std::vector<std::uint16_t>& mask, bool subtract) {
  for (std::size_t i = 0; i < vector.size(); ++i) {
    vector[i] = static_cast<std::uint16_t>(subtract ? vector[i] - mask[i] : vector[i] + mask[i]);
  }
}

class Textbook {
 public:
  explicit Textbook(const TextbookRound& round) : round_(round) {}

  Status make_keys() {
    for (std::uint32_t i = 0; i < round_.clients; ++i) {
      secagg::Seed mask_seed = secagg::Seed::random(random_);
      const secagg::Seed channel_seed = secagg::Seed::random(random_);
      SOTTO_TRY(auto channel, secagg::KeyPair::from_seed(channel_seed, secagg::KeyUse::channel, transcript));
      SOTTO_TRY(auto mask, secagg::KeyPair::from_seed(mask_seed, secagg::KeyUse::mask, transcript));
      clients_.push_back(
          {std::move(mask_seed), secagg::Seed::random(random_), std::move(channel), std::move(mask), {}});
      clients_.back().held.resize(round_.clients);
    }
    return {};
  }

  // Every pair is sealed by its dealer and opened by its holder.
  Status share() {
    for (std::uint32_t from = 0; from < round_.clients; ++from) {
      Client& dealer = clients_[from];
      const secagg::SecretPolynomial mask(dealer.mask_seed, round_.threshold, random_);
      const secagg::SecretPolynomial self(dealer.self_seed, round_.threshold, random_);
      for (std::uint32_t to = 0; to < round_.clients; ++to) {
        if (to == from) continue;
        const secagg::KeyHolder holder{to, clients_[to].channel.public_key()};
        SOTTO_TRY(const auto keys, secagg::share_keys_between(dealer.channel, from, holder, transcript));
        SOTTO_TRY(const auto sealed,
                  secagg::seal({mask.share_at(to + 1), self.share_at(to + 1)}, keys.sending));
        SOTTO_TRY(clients_[to].held[from], secagg::open(sealed, keys.sending));
      }
    }
    return {};
  }

  Status upload(std::uint32_t client, std::vector<std::uint16_t> vector, std::vector<std::uint16_t>& sum) {
    const secagg::Key self = secagg::self_mask_key(clients_[client].self_seed, client, transcript);
    add(vector, expand(self, round_.entries), false);
    for (std::uint32_t peer = 0; peer < round_.clients; ++peer) {
      if (peer == client) continue;
      const secagg::KeyHolder other{peer, clients_[peer].mask.public_key()};
      SOTTO_TRY(const secagg::Key key,
                secagg::pair_mask_key(clients_[client].mask, client, other, transcript));
      add(vector, expand(key, round_.entries), client > peer);
    }
    add(sum, vector, false);
    return {};
  }

  // Removes the own mask of everybody in the sum and all masks with the lost.
  Status unmask(std::vector<std::uint16_t>& sum) {
    for (std::uint32_t client = 0; client < round_.clients; ++client) {
      const bool uploaded = client >= round_.lost;
      SOTTO_TRY(const secagg::Seed seed, recover(client, uploaded));
      if (uploaded) {
        const secagg::Key key = secagg::self_mask_key(seed, client, transcript);
        add(sum, expand(key, round_.entries), true);
        continue;
      }
      SOTTO_TRY(const auto pair, secagg::KeyPair::from_seed(seed, secagg::KeyUse::mask, transcript));
      for (std::uint32_t peer = round_.lost; peer < round_.clients; ++peer) {
        const secagg::KeyHolder other{peer, clients_[peer].mask.public_key()};
        SOTTO_TRY(const secagg::Key key, secagg::pair_mask_key(pair, client, other, transcript));
        add(sum, expand(key, round_.entries), peer < client);
      }
    }
    return {};
  }

 private:
  Result<secagg::Seed> recover(std::uint32_t owner, bool self_mask) {
    std::vector<secagg::SharePoint> points;
    for (std::uint32_t holder = round_.lost; holder < round_.clients && points.size() < round_.threshold;
         ++holder) {
      if (holder == owner) continue;
      const secagg::SharePair& pair = clients_[holder].held[owner];
      const secagg::Share& share = self_mask ? pair.self_mask : pair.mask_key;
      secagg::SharePoint& point = points.emplace_back();
      point.point = holder + 1;
      std::copy(share.view().begin(), share.view().end(), point.share.begin());
    }
    return secagg::combine(points);
  }

  TextbookRound round_;
  SecureRandom random_;
  std::vector<Client> clients_;
};

}  // namespace

Result<TextbookTiming> run_textbook(const TextbookRound& round,
                                    const std::function<std::vector<std::uint16_t>(std::uint32_t)>& input) {
  Textbook textbook(round);
  TextbookTiming timing;
  timing.sum.resize(round.entries);
  double start = thread_seconds();
  SOTTO_CHECK(textbook.make_keys());
  SOTTO_CHECK(textbook.share());
  timing.client_seconds = (thread_seconds() - start) / round.clients;

  double uploading = 0;
  for (std::uint32_t client = round.lost; client < round.clients; ++client) {
    auto vector = input(client);
    start = thread_seconds();
    SOTTO_CHECK(textbook.upload(client, std::move(vector), timing.sum));
    uploading += thread_seconds() - start;
  }
  timing.client_seconds += uploading / (round.clients - round.lost);

  start = thread_seconds();
  SOTTO_CHECK(textbook.unmask(timing.sum));
  timing.server_seconds = thread_seconds() - start;
  return timing;
}

}  // namespace sotto::bench
