#ifdef SOTTO_HAVE_PROTOCOL

#include "cli/log_witness.h"

#include <thread>

#include "base/chain_hash.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "cli/key_files.h"
#ifdef SOTTO_HAVE_NET
#include "rounds/round_messages.h"
#include "transport/http_transport.h"
#endif

namespace sotto::cli {

Result<rounds::LogFrontier> read_witness_state(const fs::path& state) {
  if (!fs::exists(state)) return rounds::LogFrontier();
  SOTTO_TRY(const std::string bytes, read_file(state, 1 << 16));
  auto seen = rounds::LogFrontier::decode(bytes);
  if (!seen) return tl::unexpected(std::move(seen).error().in(state.string()));
  return seen;
}

Result<rounds::HeadCosignature> witness_head(const rounds::LogHead& head, const rounds::LogFrontier& now,
                                             const WitnessArguments& given) {
  SOTTO_TRY(const rounds::Identity key, read_secret_key(given.key));
  SOTTO_CHECK(write_file_atomically(given.state, now.encode(), FileReaders::owner));
  return rounds::HeadCosignature{head, rounds::cosign_head(head, key)};
}

#ifdef SOTTO_HAVE_NET

namespace {

tl::unexpected<Error> unwell(const WitnessArguments& given, const net::HttpResponse& response) {
  return failed("{} answers {}: {}", given.server, response.status, response.body.substr(0, 200));
}

// From what was seen to the head, entry by entry; refuses a log that is another one.
Result<rounds::LogFrontier> follow(net::HttpClient& client, const rounds::LogHead& head,
                                   rounds::LogFrontier seen, const WitnessArguments& given) {
  const std::uint64_t before = seen.size();
  if (before > head.size)
    return bad_input("{} has {} entries, and {} were seen before: entries were taken away", given.server,
                     head.size, before);
  while (seen.size() < head.size) {
    SOTTO_TRY(const auto response, client.get(fmt::format("/v1/log?from={}", seen.size())));
    if (response.status != 200) return unwell(given, response);
    SOTTO_TRY(const auto page, rounds::decode_log_page(response.body));
    if (page.first != seen.size() || page.entries.empty())
      return bad_input("{} does not hand out entry {} of the {} that it signed", given.server, seen.size(),
                       head.size);
    for (const rounds::LogLeaf& leaf : page.entries)
      if (seen.size() < head.size) seen.append(rounds::leaf_hash(leaf));
  }
  if (seen.root() != head.root)
    return bad_input("{} does not continue the {} entries that were seen before: it was forked", given.server,
                     before);
  return seen;
}

Result<rounds::SignedHead> fetch_head(net::HttpClient& client, const WitnessArguments& given) {
  SOTTO_TRY(const rounds::IdentityKey owner, read_public_key(given.owner));
  SOTTO_TRY(const auto response, client.get("/v1/log/head"));
  if (response.status != 200) return unwell(given, response);
  SOTTO_TRY(const auto head, rounds::decode_head(response.body));
  if (!rounds::is_signed_by(head, owner))
    return bad_input("the head of {} is not signed by {}: this is another log", given.server, to_hex(owner));
  return head;
}

// False: it had this witness's word already.
Result<bool> cosign_once(net::HttpClient& client, const WitnessArguments& given, const Output& output) {
  SOTTO_TRY(const rounds::Identity key, read_secret_key(given.key));
  SOTTO_TRY(const auto head, fetch_head(client, given));
  SOTTO_TRY(const rounds::LogFrontier seen, read_witness_state(given.state));
  SOTTO_TRY(const rounds::LogFrontier now, follow(client, head.head, seen, given));
  const rounds::IdentityKey witness = key.public_key();
  if (rounds::witnesses_of(head, std::span(&witness, 1)) > 0) return false;
  SOTTO_TRY(const auto word, witness_head(head.head, now, given));
  SOTTO_TRY(const auto response,
            client.post("/v1/log/cosignature", rounds::encode(word), "application/octet-stream"));
  if (response.status != 200) {
    // The log may have grown meanwhile: then there is another head to look at.
    SOTTO_TRY(const auto after, fetch_head(client, given));
    if (after.head == head.head) return unwell(given, response);
    return true;
  }
  output.event({{"event", "witnessed"},
                {"entries", head.head.size},
                {"before", seen.size()},
                {"root", to_hex(head.head.root)},
                {"witness", to_hex(witness)}});
  output.text("", fmt::format("{} entries continue the {} seen before; cosigned at {}", head.head.size,
                              seen.size(), given.server));
  return true;
}

}  // namespace

Status witness_server(const WitnessArguments& given, const Output& output) {
  net::HttpClientSettings settings;
  settings.url = given.server;
  settings.authorities = given.authorities;
  SOTTO_TRY(auto client, net::HttpClient::create(settings));
  while (true) {
    const auto done = cosign_once(client, given, output);
    // A coordinator that is away is waited for; one that shows another log is not.
    const bool is_away = !done && done.error().kind == ErrorKind::failed && given.every_seconds > 0;
    if (!done && !is_away) return tl::unexpected(done.error());
    if (is_away) warn("{}", done.error().message);
    if (given.every_seconds == 0) return {};
    for (std::int64_t i = 0; i < 10 * given.every_seconds && !interrupted(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (interrupted()) return {};
  }
}

#endif

}  // namespace sotto::cli

#endif
