// A device and a hostile coordinator, up to the moment of joining: what it is offered, the pages of the log
// and the blobs are real, damaged, or any bytes. Refused, or trained, but no crash and nothing charged. What
// comes after joining is in secagg_messages.cpp.

#include <fuzzer/FuzzedDataProvider.h>
#include <stdlib.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "../tests/rounds/small_campaign.h"
#include "base/chain_hash.h"
#include "device/rounds/participant.h"
#include "local/local_trainer.h"
#include "rounds/model_version.h"
#include "rounds/round_messages.h"

namespace {

using namespace sotto;

template <class T>
T must(Result<T> result) {
  if (!result) abort();
  return std::move(*result);
}

// What an honest coordinator has to say about one round.
struct Truth {
  Truth() {
    const std::array<std::pair<std::string, std::string>, 2> settings = {
        {{"negatives", "2"}, {"vector_size", "3"}}};
    const auto trainer = must(local::find_trainer("sotto", settings));
    rounds::ItemTable table;
    table.ids = {"a", "b", "c"};
    table.vectors = {3, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {}, {}};
    items = must(encode(table));
    model =
        must(encode(rounds::ModelVersion{trainer->layout().text(),
                                         rounds::one_row(std::vector<float>(trainer->layout().size(), 0.5F)),
                                         {},
                                         rounds::blob_hash(items)}));
    rounds::Campaign campaign = rounds::small_campaign();
    campaign.layout = rounds::layout_hash(trainer->layout().text());
    campaign.local = {{"negatives", "2"}, {"vector_size", "3"}};
    campaign.encoding.dimension = trainer->layout().size();
    campaign.bits = must(campaign.plan(1)).modulus().bits();
    rounds::OfferMessage message;
    message.campaign = sign_document(rounds::campaign_kind, encode(campaign), rounds::operator_key());
    const rounds::Digest hash = must(rounds::open_campaign(message.campaign)).hash;
    page = {0, {{rounds::LeafKind::campaign, hash}, {rounds::LeafKind::model, rounds::blob_hash(model)}}};
    rounds::MerkleTree tree;
    for (const auto& entry : page.entries) tree.append(rounds::leaf_hash(entry));
    message.campaign_entry = {0, tree.inclusion(0, 2)};
    message.model_entry = {1, tree.inclusion(1, 2)};
    message.head.head = {2, tree.root(), rounds::campaign_begin};
    message.head.signature = sign_head(message.head.head, rounds::coordinator_key());
    message.head.cosignatures.push_back(cosign_head(message.head.head, rounds::witness_key(0)));
    rounds::RoundOrder order;
    order.round.fill(3);
    order.number = 1;
    order.campaign = hash;
    order.model = rounds::blob_hash(model);
    order.bound = 1;
    order.head = message.head.head;
    order.expires = rounds::campaign_begin + std::chrono::hours(2);
    message.order = sign_document(rounds::order_kind, encode(order), rounds::coordinator_key());
    offer = encode(message);
  }
  std::string offer, model, items;
  rounds::LogPage page;
};

class HostileCoordinator final : public device::Transport {
 public:
  HostileCoordinator(const Truth& truth, FuzzedDataProvider& input) : truth_(truth), input_(input) {}
  Result<device::ServerAnswer> send(const device::ServerCall& call) override {
    if (call.method != "GET") abort();  // nobody joins before its time
    if (call.path == "/v1/order") return device::ServerAnswer{200, said(truth_.offer)};
    if (call.path.starts_with("/v1/log")) return device::ServerAnswer{200, said(encode(truth_.page))};
    const bool items = call.path.ends_with(to_hex(rounds::blob_hash(truth_.items)));
    return device::ServerAnswer{200, said(items ? truth_.items : truth_.model)};
  }

 private:
  std::string said(std::string truth) {
    const int choice = input_.ConsumeIntegralInRange(0, 3);
    if (choice == 1) return input_.ConsumeRandomLengthString(4096);
    if (choice == 2) {
      for (int edits = input_.ConsumeIntegralInRange(1, 4); edits > 0; --edits) {
        const auto at = input_.ConsumeIntegralInRange<std::size_t>(0, truth.size());
        truth.replace(at, input_.ConsumeIntegralInRange<std::size_t>(0, 16),
                      input_.ConsumeRandomLengthString(16));
      }
    }
    return truth;
  }
  const Truth& truth_;
  FuzzedDataProvider& input_;
};

// In memory where possible. Removed when the process ends.
struct Folder {
  Folder() {
    std::string name = fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path().string();
    name += "/sotto-fuzz-rounds-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) abort();
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path path;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Truth truth;
  static const Folder folder;
  static auto ledger =
      must(privacy::Ledger::create(folder.path / "ledger",
                                   {privacy::Unit::user,
                                    privacy::Adjacency::replace_one,
                                    privacy::RequestOrder::adaptive,
                                    must(privacy::SensitivitySettings::create({"news"})),
                                    {{privacy::BudgetWindow::lifetime, std::nullopt, 100, 1e-5}}},
                                   rounds::campaign_begin, {.first_use = true}));
  static const auto identity = std::make_shared<const secagg::Identity>(rounds::test_key(42));
  static const std::vector<device::StoredImpression> impressions = {
      {rounds::campaign_begin, {"a"}, {"b", "c", "x"}, {1, 0, 0}}};
  static const device::StoredRows rows;
  FuzzedDataProvider input(data, size);
  HostileCoordinator coordinator(truth, input);
  device::SimulatedDraws draws(1, 1);
  std::error_code ignored;
  fs::remove(folder.path / "log", ignored);
  fs::remove(folder.path / "items", ignored);
  fs::remove(folder.path / "keys", ignored);
  const std::uint64_t charges = ledger.records();
  bool is_time_to_join = false;
  const auto keys = std::make_shared<rounds::OperatorKeys>(rounds::operator_key().public_key());
  device::Conversation<device::Participation> talk([&](device::Exchange& exchange) {
    return device::take_part(
        exchange,
        {.identity = identity,
         .ledger = ledger,
         .clock = [] { return privacy::ClockReading{rounds::campaign_begin + std::chrono::hours(1)}; },
         .keys = keys,
         .purpose = rounds::small_campaign().purpose,
         .policy = {.epsilon = 8,
                    .delta = 1e-6,
                    .group = 20,
                    .corrupted = 0.1,
                    .server = secagg::ServerModel::semi_honest,
                    .witnesses = 1,
                    .upload_bytes = 100'000,
                    .training_seconds = 60},
         .log_file = folder.path / "log",
         .keys_file = folder.path / "keys",
         .items_file = folder.path / "items",
         .impressions = impressions,
         .rows = rows,
         .draws = draws,
         .cancelled = [&] { return is_time_to_join; }});
  });
  const auto done =
      carry(std::move(talk), coordinator, [&](std::chrono::milliseconds) { is_time_to_join = true; });
  if (ledger.records() != charges) abort();
  if (size == 0 && (!done || done->outcome != device::Participation::Outcome::ended)) abort();  // the truth
  return 0;
}
