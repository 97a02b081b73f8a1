// What a device computes and sends, with draws from seeds: the same program is compiled natively and to
// WebAssembly, and web/wasm/same_bytes.test.mjs compares what both print. Lines "bytes NAME HEX" must be
// equal, lines "floats NAME NUMBER..." within 1e-4, lines "time NAME MILLISECONDS" are for people.
//
// same_bytes PACK: a device pack, for instance tests/device/compatibility/2026-11/pack.

#include <chrono>
#include <cstdio>

#include "base/chain_hash.h"
#include "base/files.h"
#include "blind/guide.h"
#include "blind/quantisation.h"
#include "blind/rotation.h"
#include "blind/shape.h"
#include "device/blind/key_part.h"
#include "device/blind/probes.h"
#include "device/device.h"
#include "device/small_user_models.h"
#include "device/wire/pack_codec.h"
#include "device/wire/query_wire.h"
#include "local/local_trainer.h"
#include "secagg/client/secagg_client.h"
#include "secagg/server/secagg_server.h"
#include "secagg/vectors/update_encoding.h"

using namespace sotto;

namespace {

void print_bytes(const std::string& name, std::string_view bytes) {
  std::printf("bytes %s ", name.c_str());
  for (const char byte : bytes) std::printf("%02x", static_cast<unsigned char>(byte));
  std::printf("\n");
}

template <class Numbers>
void print_floats(const std::string& name, const Numbers& numbers) {
  std::printf("floats %s", name.c_str());
  for (const auto number : numbers) std::printf(" %.9g", static_cast<double>(number));
  std::printf("\n");
}

class Stopwatch {
 public:
  explicit Stopwatch(std::string name) : name_(std::move(name)) {}
  ~Stopwatch() {
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin_;
    std::printf("time %s %.2f\n", name_.c_str(), taken.count());
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::string name_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::vector<float> drawn(std::uint64_t seed, std::size_t count) {
  SeededRandom random(seed, Purpose::test);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(random() >> 40) * 0x1p-24F - 0.5F;
  return numbers;
}

// Every mechanism of the wire, asked after the same clicks: the requests, and what is ranked of the answers.
Status ask(const std::string& pack_bytes) {
  struct Case {
    const char* name;
    device::QuerySettings query;
  };
  std::vector<Case> cases(4);
  for (Case& one : cases) {
    one.query.epsilon = 3;
    one.query.wanted = 50;
  }
  cases[0].name = "prototypes";
  cases[1].name = "similar-prototypes";
  cases[1].query.rule = "similarity";
  cases[2].name = "coefficients";
  cases[2].query.mechanism = "coefficients";
  cases[3].name = "gaussian-coefficients";
  cases[3].query.mechanism = "coefficients";
  cases[3].query.noise = "gaussian";
  cases[3].query.delta = 1e-6;
  SOTTO_TRY(const auto pack, device::decode_pack(pack_bytes));
  const privacy::UtcTime now{std::chrono::sys_days{std::chrono::year{2026} / 3 / 14}};
  for (const Case& one : cases) {
    const fs::path folder = fs::temp_directory_path() / fmt::format("sotto-same-bytes-{}", one.name);
    fs::remove_all(folder);
    SeededRandom random(7, Purpose::test);
    device::DeviceSettings settings;
    settings.query = one.query;
    settings.lifetime_epsilon = 100;
    settings.budget_delta = 1e-5;
    SOTTO_TRY(auto device,
              device::Device::open(folder, settings,
                                   {[now] { return privacy::ClockReading(now); }, &random, true}));
    SOTTO_CHECK(device.agree(device.terms("paper.example", "A page for you", {.asking = true})));
    SOTTO_CHECK(device.install(pack_bytes));
    for (const std::size_t row : {std::size_t{1}, std::size_t{4}, std::size_t{7}})
      SOTTO_CHECK(device.click(pack.items.ids[row]));
    auto talk = device.recommend(10);
    const auto step = talk.next();
    const auto* call = std::get_if<device::ServerCall>(&step);
    if (call == nullptr) return failed("{} asks nothing", one.name);
    print_bytes(fmt::format("request/{}", one.name), call->body);
    const std::vector<float> scores(pack.items.size(), 1);
    talk.received({200, encode(device::RecommendAnswer{pack.model, pack.items.ids, scores})});
    static_cast<void>(talk.next());
    if (!talk.is_over() || !talk.result()) return failed("{} ranks nothing", one.name);
    std::string ids;
    std::vector<float> ranked;
    for (const auto& item : talk.result()->items) {
      ids += item.item + " ";
      ranked.push_back(item.score);
    }
    print_bytes(fmt::format("ranked/{}", one.name), ids);
    print_floats(fmt::format("scores/{}", one.name), ranked);
    SOTTO_CHECK(device::Device::erase(std::move(device)));
  }
  return {};
}

Status encode_readers() {
  for (const std::string_view kind : device::user_model_kinds) {
    SOTTO_TRY(const auto model, device::UserModel::create(device::testing::small_shape(std::string(kind)),
                                                          device::testing::small_weights(kind)));
    print_floats(fmt::format("reader/{}", kind), model.encode(drawn(3, 9 * device::testing::vector_size)));
  }
  return {};
}

// A round of the recipe on 10 pages of 6 articles; `clicks` were read before each.
Status train(std::string_view recipe, std::size_t dimension, std::size_t clicks) {
  constexpr std::size_t articles = 200, pages = 10, shown_each = 6;
  SOTTO_TRY(const auto trainer, local::find_trainer(recipe, {}));
  std::vector<float> parameters = drawn(5, trainer->layout().size());
  for (float& one : parameters) one *= 0.1F;
  std::vector<float> items = drawn(6, articles * dimension);
  SeededRandom random(8, Purpose::test);
  struct Page {
    std::vector<local::ItemRow> history, shown;
    std::vector<std::uint8_t> clicked;
  };
  std::vector<Page> read(pages);
  local::OwnEvents own;
  for (Page& page : read) {
    for (std::size_t i = 0; i < clicks; ++i)
      page.history.push_back(static_cast<local::ItemRow>(random() % articles));
    for (std::size_t i = 0; i < shown_each; ++i) {
      page.shown.push_back(static_cast<local::ItemRow>(random() % articles));
      page.clicked.push_back(i == 0 ? 1 : 0);
    }
    own.impressions.push_back({page.history, page.shown, page.clicked});
  }
  const local::RoundInputs inputs{
      parameters,
      Eigen::Map<const local::Rows>(items.data(), articles, static_cast<Eigen::Index>(dimension)),
      {nullptr, 0, 0},
      {},
      {}};
  const Stopwatch watch(fmt::format("train/{}", recipe));
  SOTTO_TRY(const auto update, trainer->train(inputs, own, random, [] { return false; }));
  std::vector<float> some;  // all of them would be megabytes of text
  for (std::size_t i = 0; i < update.direction.size(); i += 1 + update.direction.size() / 200)
    some.push_back(update.direction[i]);
  print_floats(fmt::format("train/{}", recipe), some);
  print_floats(fmt::format("loss/{}", recipe), std::vector{update.loss});
  return {};
}

// From an update to entries that may be masked: rotated, rounded, noised.
Status encode_update() {
  secagg::EncodingPlan::Settings settings;
  settings.dimension = 1000;
  settings.clip = 1;
  settings.rotation_seed = 11;
  settings.entry_clip = 0.2;
  settings.devices = 30;
  settings.denominator = 30;
  settings.noise_multiplier = 1;
  SOTTO_TRY(settings.step, secagg::finest_step(settings, 18));
  SOTTO_TRY(auto plan, secagg::EncodingPlan::create(settings));
  SeededRandom random(12, Purpose::noise);
  SOTTO_TRY(const auto entries,
            secagg::UpdateEncoder(std::move(plan))
                .encode(std::span<const float>(drawn(13, 1000)), privacy::DeviceRandom::simulated(random)));
  print_bytes("update", {reinterpret_cast<const char*>(entries.data()), 4 * entries.size()});
  return {};
}

Result<secagg::Bytes> step(secagg::SecAggClient& client, secagg::ServerPhase phase, secagg::ByteView message,
                           secagg::VectorShape shape) {
  using secagg::ServerPhase;
  if (phase == ServerPhase::advertising) return client.advertise();
  if (phase == ServerPhase::sharing) return client.share_keys(message);
  if (phase == ServerPhase::confirming) return client.confirm_arrivals(message);
  if (phase == ServerPhase::unmasking) return client.reveal(message);
  const std::vector<std::uint32_t> numbers(shape.entries, client.index() + 1);
  SOTTO_TRY(auto vector, secagg::RingVector::of(std::span<const std::uint32_t>(numbers), shape.bits));
  return client.upload(message, std::move(vector));
}

// A secure sum of `count` devices; their messages, as hashes. The time is of the first device's upload.
Status sum(const std::string& name, std::uint32_t count, secagg::VectorShape shape) {
  using namespace secagg;
  constexpr Digest order{1};
  SeededRandom draws(14, Purpose::test);
  const auto random = privacy::DeviceRandom::simulated(draws);
  std::vector<Identity> identities;
  auto keys = std::make_shared<std::vector<IdentityKey>>();
  for (std::uint32_t i = 0; i < count; ++i) {
    identities.push_back(Identity::create(random));
    keys->push_back(identities.back().public_key());
  }
  const ClientPolicy policy{.server = ServerModel::semi_honest,
                            .corrupted = 0.1,
                            .dropped = 0,
                            .minimum_alive = count,
                            .order_hash = order,
                            .vector = shape};
  SOTTO_TRY(const auto group,
            find_parameters(
                {.clients = count, .corrupted = 0.1, .dropping = 0, .server = ServerModel::semi_honest}));
  SOTTO_TRY(auto server, SecAggServer::create(group, shape, order, keys, draws));
  std::vector<SecAggClient> clients;
  for (std::uint32_t i = 0; i < count; ++i) {
    SOTTO_TRY(const Bytes invitation, server.message_for(i));
    SOTTO_TRY(auto client, SecAggClient::join(invitation, policy, identities[i], keys, random));
    clients.push_back(std::move(client));
  }
  while (server.phase() != ServerPhase::done) {
    const ServerPhase phase = server.phase();
    for (std::uint32_t i = 0; i < count; ++i) {
      SOTTO_TRY(const Bytes message, server.message_for(i));
      std::optional<Stopwatch> watch;
      if (i == 0 && phase == ServerPhase::uploading) watch.emplace("upload/" + name);
      SOTTO_TRY(const Bytes said, step(clients[i], phase, message, shape));
      watch.reset();
      if (i == 0) {
        SOTTO_TRY(const ChainHash hash,
                  chain_hash({{reinterpret_cast<const char*>(said.data()), said.size()}}));
        print_bytes(fmt::format("message/{}/{}", name, static_cast<int>(phase)), as_text(hash));
      }
      SOTTO_CHECK(server.receive(i, said));
    }
    SOTTO_CHECK(server.close_phase());
  }
  const auto entries = server.sum().entries();
  print_bytes("sum/" + name, fmt::format("{}", entries.front()));
  return {};
}

// A blind question with draws from a seed, and what its answer opens to; of a shape as small as a test's, and
// timed at the one of a million items of 64 numbers.
Status ask_blindly() {
  const auto ask = [](const std::string& name, const blind::Shape& shape) -> Status {
    SOTTO_TRY(const auto parameters, blind::choose_parameters(shape));
    SeededRandom random(21, Purpose::test);
    std::vector<std::uint32_t> hint(shape.rows * blind::ring_degree);
    for (std::uint32_t& word : hint) word = static_cast<std::uint32_t>(random());
    blind::Guide guide;
    guide.parameters = parameters;
    guide.centroids = drawn(22, shape.columns());
    std::vector<device::KeyPart> keys;
    {
      const Stopwatch watch("blind-key/" + name);
      SOTTO_TRY(keys,
                device::KeyPart::prepare(parameters, hint, 1, privacy::DeviceRandom::simulated(random)));
    }
    std::vector<std::int32_t> products;
    std::vector<std::uint32_t> answer(shape.rows);
    std::string body;
    for (std::uint32_t& word : answer) word = static_cast<std::uint32_t>(random());
    {
      const Stopwatch watch("blind-question/" + name);
      const std::vector<float> user = blind::rotated(drawn(23, shape.dimension), shape.dimension);
      const auto quantised = blind::quantise_user(user, parameters);
      const std::uint32_t cluster = device::nearest_clusters(guide, user).front();
      SOTTO_TRY(auto sealed, std::move(keys[0]).seal(quantised.entries, cluster));
      body = blind::encode_query({std::string(64, 'a'), sealed.words});
      products = std::move(sealed.opening).open(answer);
    }
    SOTTO_TRY(const ChainHash asked, chain_hash({body}));
    SOTTO_TRY(const ChainHash opened,
              chain_hash({{reinterpret_cast<const char*>(products.data()), 4 * products.size()}}));
    print_bytes("blind-question/" + name, as_text(asked));
    print_bytes("blind-products/" + name, as_text(opened));
    return {};
  };
  SOTTO_CHECK(ask("small", {32, 40, 37, 1}));
  SOTTO_TRY(const blind::Shape million, blind::choose_shape(1'000'000, 64, {}));
  return ask("million", million);
}

Status everything(const fs::path& pack) {
  SOTTO_TRY(const std::string bytes, read_file(pack, device::max_pack_bytes));
  SOTTO_CHECK(ask(bytes));
  SOTTO_CHECK(ask_blindly());
  SOTTO_CHECK(encode_readers());
  SOTTO_CHECK(train("sotto", 64, 50));
  SOTTO_CHECK(train("efficient-fedrec", 400, 50));
  SOTTO_CHECK(encode_update());
  SOTTO_CHECK(sum("four", 4, {1000, 16}));
  return sum("fifty", 50, {100'000, 18});
}

}  // namespace

int main(int count, char** words) {
  const Status done = count == 2 ? everything(words[1]) : bad_input("usage: same_bytes PACK");
  if (!done) std::fprintf(stderr, "same_bytes: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
