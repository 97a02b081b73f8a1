// How much memory a device takes in a whole round of the split user model, at the sizes of the papers: 1,000
// articles of 400 numbers, 40 pages of 20 articles after 50 clicks each, a group of 20. It fetches over HTTP,
// checks, trains, is charged, masks what it sends and reveals. Coordinator and the other devices are a
// process of their own. Fails beyond 64 MB.
//
//   device_in_a_round

#include <cstdio>
#include <thread>

#include "base/interrupt.h"
#include "coordinator/coordinator.h"
#include "coordinator/load/own_process.h"
#include "coordinator/load/round_device.h"
#include "device/device.h"
#include "local/local_trainer.h"
#include "privacy/ledger/ledger_statement.h"
#include "rounds/enrolment.h"
#include "test_paths.h"

namespace sotto::coordinator {
namespace {

constexpr std::uint64_t group = 20;
constexpr std::size_t articles = 1000, pages = 40, shown_each = 20, clicks_before = 50;
constexpr std::uint32_t numbers = 400;
constexpr double most_megabytes = 64;
constexpr std::string_view recipe = "efficient-fedrec", purpose = "How much memory a round takes";

rounds::UtcTime wall_now() {
  return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
}
std::string article(std::size_t number) { return fmt::format("N{:06}", number); }

// Publishes one version; what comes of the round is not asked.
class OneVersion final : public Folding {
 public:
  OneVersion() : layout_(local::find_trainer(std::string(recipe), {}).value()->layout().text()) {}
  Result<FoldedModel> begin(const std::string&) override {
    rounds::ItemTable table;
    for (std::size_t i = 0; i < articles; ++i) table.ids.push_back(article(i));
    return FoldedModel{layout_, std::move(table)};
  }
  Result<FoldedRound> next() override {
    SeededRandom random(1, Purpose::test);
    const auto number = [&] { return static_cast<float>(random() >> 40) * 0x1p-24F - 0.5F; };
    std::vector<float> own(local::find_trainer(std::string(recipe), {}).value()->layout().size());
    for (float& one : own) one = 0.1F * number();
    rounds::NumberRows vectors{numbers, std::vector<float>(articles * numbers), {}, {}};
    for (float& one : vectors.numbers) one = number();
    return FoldedRound{done_, 1, rounds::one_row(std::move(own)), std::move(vectors), "", false};
  }
  Status give(const std::vector<GroupSum>&) override {
    ++done_;
    return {};
  }

 private:
  const std::string layout_;
  std::uint64_t done_ = 0;
};

rounds::Campaign campaign() {
  const auto trainer = local::find_trainer(std::string(recipe), {}).value();
  const std::uint64_t dimension = trainer->dimension(articles, 1);
  const auto calibrated =
      secagg::calibrated_plan(
          {.epsilon = 8, .delta = 1e-5, .participations = 3, .dropping = 0.1, .corrupted = 0.1},
          {dimension, 2 * group, group, 3, group})
          .value();
  rounds::Campaign made = rounds::small_campaign();
  made.purpose = purpose;
  made.recipe = recipe;
  made.layout = rounds::layout_hash(trainer->layout().text());
  made.local.clear();
  made.population = 2 * group;
  made.cohort = group;
  made.rounds = made.participations = 3;
  made.epsilon = 8;
  made.delta = 1e-5;
  made.encoding = calibrated.plan.settings();
  made.bits = calibrated.plan.modulus().bits();
  made.max_upload_bytes = 16 << 20;
  made.max_training_seconds = 120;
  made.shortest_phase_seconds = made.longest_phase_seconds = 300;  // however busy the machine is
  made.valid_from = wall_now() - std::chrono::hours(1);
  made.valid_until = wall_now() + std::chrono::hours(24);
  made.witnesses.clear();
  made.witnesses_needed = 0;
  return made;
}

// The coordinator and all devices but one; says its address.
int others(const fs::path& folder) {
  install_interrupt_handler();
  const rounds::Campaign asked = campaign();
  CoordinatorSettings settings;
  settings.campaign = sign_document(rounds::campaign_kind, encode(asked), rounds::operator_key());
  settings.operator_key = rounds::operator_key().public_key();
  settings.store = (folder / "store").string();
  settings.run.order_time = std::chrono::seconds(600);
  {
    const auto store = open_store(settings.store, rounds::coordinator_key().public_key()).value();
    for (std::uint8_t i = 1; i < group; ++i) {
      Digest token{};
      token.fill(i);
      store->enrol({device_key(i).public_key(), token, wall_now()}).value();
    }
  }
  OneVersion trainer;
  const auto running = Coordinator::start(settings, rounds::coordinator_key(), trainer);
  if (!running) {
    std::fprintf(stderr, "%s\n", running.error().message.c_str());
    return 1;
  }
  net::HttpClientSettings http;
  http.url = (*running)->url();
  auto network = transport::HttpTransport::create(http).value();
  const device::RoundOffer offer = fetch_offer(network);
  std::vector<std::thread> threads;
  for (std::uint64_t i = 1; i < group; ++i)
    threads.emplace_back([&, i] {
      RoundDevice device(folder, i, http.url, offer, asked);
      if (device.check_in()) device.take_part();
      if (!device.why.empty())
        std::fprintf(stderr, "device %llu: %s\n", static_cast<unsigned long long>(i), device.why.c_str());
    });
  std::printf("%s\n", http.url.c_str());
  std::fflush(stdout);
  for (std::thread& thread : threads) thread.join();
  while (!interrupted() && (*running)->tick()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  (*running)->stop();
  return 0;
}

std::vector<device::StoredImpression> reading() {
  SeededRandom random(2, Purpose::test);
  std::vector<device::StoredImpression> read(pages);
  for (std::size_t p = 0; p < pages; ++p) {
    read[p].time = wall_now() - std::chrono::minutes(pages - p);
    for (std::size_t i = 0; i < clicks_before; ++i) read[p].history.push_back(article(random() % articles));
    const std::size_t first = random() % articles;
    for (std::size_t i = 0; i < shown_each; ++i) {
      read[p].shown.push_back(article((first + i) % articles));
      read[p].clicked.push_back(i == 0 ? 1 : 0);
    }
  }
  return read;
}

Status take_part(const fs::path& folder, const std::string& url) {
  device::DeviceSettings settings;
  settings.ranking = "local";
  settings.lifetime_epsilon = 1000;
  settings.budget_delta = 1e-4;
  settings.training = {.epsilon = 8,
                       .delta = 1e-5,
                       .least_group = group,
                       .least_corrupted = 0.1,
                       .server = "semi-honest",
                       .security_bits = 40,
                       .least_witnesses = 0,
                       .most_upload_bytes = 16 << 20,
                       .most_seconds = 120};
  // Training has the time that it needs, and nobody waits for what is left of it.
  const auto begin = std::chrono::steady_clock::now();
  std::chrono::milliseconds slept{0};
  device::DeviceEnvironment host;
  host.first_use = true;
  host.steady = [&] { return begin + slept; };
  SOTTO_TRY(auto device, device::Device::open(folder / "device", settings, host));
  SOTTO_CHECK(device.add_pages(reading()));
  SOTTO_CHECK(device.agree(device.terms("here", std::string(purpose), {.training = true})));
  net::HttpClientSettings http;
  http.url = url;
  http.timeout = std::chrono::seconds(300);
  SOTTO_TRY(auto network, transport::HttpTransport::create(http));
  rounds::EnrolmentToken token{{}, true, wall_now() + std::chrono::hours(1)};
  token.id.fill(200);
  SOTTO_CHECK(device.enrol(network, rounds::sign_token(token, rounds::operator_key()),
                           rounds::OperatorKeys(rounds::operator_key().public_key())));
  const double before = usage_of(::getpid()).largest_megabytes;
  SOTTO_TRY(const device::Participation part,
            device.take_part(network,
                             {[] { return false; }, [&](std::chrono::milliseconds time) { slept += time; }}));
  if (part.outcome != device::Participation::Outcome::took_part)
    return failed("the device did not take part: {} {}", name(part.outcome), part.why);
  const double megabytes = usage_of(::getpid()).largest_megabytes;
  fmt::print("{} examples, {} bytes down and {} up: {:.1f} MB resident at most, {:.1f} before the round\n",
             part.samples, part.bytes_down, part.bytes_up, megabytes, before);
  if (megabytes > most_megabytes) return failed("more than {} MB", most_megabytes);
  return {};
}

}  // namespace
}  // namespace sotto::coordinator

int main(int count, char** words) {
  if (count == 3 && std::string_view(words[1]) == "others") return sotto::coordinator::others(words[2]);
  const sotto::TempFolder folder;
  const sotto::coordinator::OwnProcess rest("others", folder.path().string());
  if (rest.line().empty()) return 1;
  const sotto::Status done = sotto::coordinator::take_part(folder.path(), rest.line());
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
