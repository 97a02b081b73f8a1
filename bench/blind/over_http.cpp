// Questions to a running blind server from several connections at once. The question is words at random,
// which nobody can tell from a ciphertext, and every answer must be the first one.

#include <algorithm>
#include <array>
#include <thread>

#include "base/random.h"
#include "bench/benchmarks.h"
#include "blind/guide.h"
#include "device/wire/pack_codec.h"
#include "net/http_client.h"
#include "net/negotiation.h"

namespace sotto::bench {

namespace {

constexpr double seconds_each = 8;
constexpr std::array<std::size_t, 3> connections = {1, 4, 16};

Result<std::string> fetch(net::HttpClient& client, const std::string& path) {
  SOTTO_TRY(auto answer, client.get(path));
  if (answer.status == 200) return std::move(answer.body);
  return failed("the server answers {} to {}: {}", answer.status, path, net::error_text(answer));
}

struct Asked {
  blind::Shape shape;
  std::string body, expected;
};

Result<Asked> first_question(const std::string& url) {
  SOTTO_TRY(auto client, net::HttpClient::create({.url = url}));
  SOTTO_TRY(const std::string pack_bytes, fetch(client, "/v1/pack"));
  SOTTO_TRY(const auto pack, device::decode_pack(pack_bytes));
  if (pack.blind_guide.empty())
    return bad_input("{} serves no guide: start it with --blind, and with a pool that is asked about", url);
  SOTTO_TRY(const std::string guide_bytes, fetch(client, "/v1/blind/" + pack.blind_guide));
  SOTTO_TRY(const blind::Guide guide, blind::decode_guide(guide_bytes));
  Asked asked{guide.parameters.shape, {}, {}};
  blind::BlindWords question{pack.blind_guide, {}};
  question.words.resize(asked.shape.columns() * asked.shape.probes);
  SeededRandom random(9, Purpose::test);
  for (std::uint32_t& word : question.words) word = static_cast<std::uint32_t>(random());
  asked.body = blind::encode_query(question);
  SOTTO_TRY(const auto answer, client.post("/v1/blind", asked.body, net::flat_buffers_type));
  if (answer.status != 200)
    return failed("the server answers {}: {}", answer.status, net::error_text(answer));
  SOTTO_TRY(const auto words, blind::decode_answer(answer.body));
  if (words.words.size() != std::size_t{asked.shape.rows} * asked.shape.probes)
    return failed("the answer has {} numbers", words.words.size());
  asked.expected = answer.body;
  return asked;
}

struct Load {
  double per_second = 0, median = 0, late = 0;  // seconds: of half, and of 95 in 100
};

Result<Load> load(const std::string& url, const Asked& asked, std::size_t count) {
  std::vector<std::vector<double>> taken(count);
  std::vector<Status> ended(count);
  std::vector<std::thread> running;
  const double begin = wall_seconds();
  for (std::size_t i = 0; i < count; ++i) {
    running.emplace_back([&, i] {
      ended[i] = [&]() -> Status {
        SOTTO_TRY(auto client, net::HttpClient::create({.url = url}));
        while (wall_seconds() < begin + seconds_each) {
          const double sent = wall_seconds();
          SOTTO_TRY(const auto answer, client.post("/v1/blind", asked.body, net::flat_buffers_type));
          taken[i].push_back(wall_seconds() - sent);
          if (answer.status != 200 || answer.body != asked.expected)
            return failed("the server answers {} and not what it answered first", answer.status);
        }
        return {};
      }();
    });
  }
  for (std::thread& thread : running) thread.join();
  const double seconds = wall_seconds() - begin;
  for (const Status& one : ended) SOTTO_CHECK(one);
  std::vector<double> all;
  for (const auto& one : taken) all.insert(all.end(), one.begin(), one.end());
  std::sort(all.begin(), all.end());
  return Load{static_cast<double>(all.size()) / seconds, all[all.size() / 2], all[all.size() * 95 / 100]};
}

}  // namespace

BenchRows bench_blind_over_http(const std::string& url) {
  SOTTO_TRY(const Asked asked, first_question(url));
  std::vector<BenchRow> rows;
  double alone = 0;
  for (const std::size_t count : connections) {
    SOTTO_TRY(const Load measured, load(url, asked, count));
    if (rows.empty()) alone = measured.per_second;
    rows.push_back({fmt::format("questions over HTTP, {} connection(s)", count), measured.per_second, alone,
                    measured.per_second / alone, "1/s", "one connection"});
    rows.back().note = fmt::format("half within {:.1f} ms, 95 in 100 within {:.1f}", 1e3 * measured.median,
                                   1e3 * measured.late);
  }
  rows[0].note +=
      fmt::format("; {} clusters of {}, {} probe(s), {} bytes up and {} down", asked.shape.clusters,
                  asked.shape.rows, asked.shape.probes, asked.body.size(), asked.expected.size());
  return rows;
}

}  // namespace sotto::bench
