// A coordinator's store whose file was damaged: an error at opening or later, or answers, but no crash. The
// input is triples (place, byte) that replace bytes of a real store, or, with the first byte odd, values that
// replace fields of its tables, which a database does not notice.

#include <fuzzer/FuzzedDataProvider.h>
#include <stdlib.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/files.h"
#include "coordinator/store/sqlite_connection.h"
#include "coordinator/store/store.h"

namespace {

using namespace sotto;
using namespace sotto::coordinator;

const UtcTime begin{std::chrono::seconds(1'800'000'000)};

Digest hash(std::uint8_t number) {
  Digest made{};
  made.fill(number);
  return made;
}

template <class T>
T must(Result<T> result) {
  if (!result) abort();
  return std::move(*result);
}
void must(const Status& status) {
  if (!status) abort();
}

// In memory where possible; one store is made, and each input damages a copy of its file.
class Workplace {
 public:
  Workplace() {
    const bool shared_memory = fs::is_directory("/dev/shm");
    std::string name = shared_memory ? "/dev/shm" : fs::temp_directory_path().string();
    name += "/sotto-fuzz-store-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) abort();
    path_ = name;
    fill();
    fs::copy_file(file(), path_ / "good");
  }
  ~Workplace() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  fs::path folder() const { return path_ / "store"; }
  fs::path file() const { return folder() / "store.sqlite"; }
  void restore() const {
    for (const char* beside : {"store.sqlite-wal", "store.sqlite-shm"}) fs::remove(folder() / beside);
    fs::copy_file(path_ / "good", file(), fs::copy_options::overwrite_existing);
  }

 private:
  void fill() const {
    const auto store = must(open_store(folder().string(), hash(200)));
    const Fence fence = must(store->acquire("coordinator", "node", begin, std::chrono::minutes(1))).fence;
    must(store->enrol({hash(5), hash(6), begin}));
    must(
        store->add_campaign(fence, {hash(1), "campaign", CampaignState::open, begin}, {0, {"leaf", "head"}}));
    ModelVersion version{
        .campaign = hash(1), .model = must(store->keep_blob("model")), .time = begin, .size = 5};
    must(store->publish_version(fence, version, std::nullopt, {2, {"leaf 0", "head 0"}}));
    must(store->open_order(fence, {hash(2), 1, hash(1), "order", OrderState::open, {}}));
    must(store->begin_unmasking(fence, hash(2)));
    must(store->keep_sum(fence, hash(2), {0, 20, {1, 2, 3}}));
    must(store->leave_out(fence, {hash(5), hash(2)}));
    must(store->seal_sums(fence, hash(2)));
    must(store->note_action({begin, "pause", "a test"}));
  }
  fs::path path_;
};

void damage_bytes(const fs::path& file, FuzzedDataProvider& input) {
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  const auto size = static_cast<std::uint64_t>(fs::file_size(file));
  while (input.remaining_bytes() >= 4) {
    stream.seekp(static_cast<std::streamoff>(input.ConsumeIntegralInRange<std::uint64_t>(0, size - 1)));
    stream.put(static_cast<char>(input.ConsumeIntegral<std::uint8_t>()));
  }
}

void damage_fields(const fs::path& file, FuzzedDataProvider& input) {
  static constexpr std::array<const char*, 18> fields = {
      "enrolments SET device",  "enrolments SET time", "campaigns SET document", "campaigns SET state",
      "orders SET state",       "orders SET number",   "orders SET document",    "group_sums SET entries",
      "group_sums SET arrived", "versions SET model",  "versions SET round",     "public_log SET record",
      "leases SET until",       "leases SET fence",    "admin_actions SET time", "sotto_store SET steps",
      "left_out SET device",    "left_out SET round"};
  auto connection = connect_sqlite(file);
  if (!connection) return;
  static_cast<void>((*connection)->run("PRAGMA foreign_keys = OFF"));
  for (const char* guard : {"order_steps", "campaign_steps", "versions_fixed", "log_fixed", "enrolment_steps",
                            "fences_rise", "actions_fixed", "left_out_fixed"})
    static_cast<void>((*connection)->run(std::string("DROP TRIGGER ") + guard));
  static_cast<void>((*connection)->run("PRAGMA ignore_check_constraints = ON"));
  while (input.remaining_bytes() > 0) {
    const std::string sql = std::string("UPDATE ") + input.PickValueInArray(fields) + " = $1";
    const std::string text = input.ConsumeRandomLengthString(40);
    SqlParameter value;
    switch (input.ConsumeIntegralInRange(0, 3)) {
      case 0:
        value = input.ConsumeIntegral<std::int64_t>();
        break;
      case 1:
        value = std::string_view(text);
        break;
      case 2:
        value = SqlBytes{text};
        break;
      default:
        break;
    }
    static_cast<void>((*connection)->run(sql, {value}));
  }
}

void use(const fs::path& folder) {
  const auto opened = open_store(folder.string(), hash(200));
  if (!opened) {
    if (opened.error().message.empty()) abort();
    return;
  }
  Store& store = **opened;
  static_cast<void>(store.check());
  static_cast<void>(store.count_enrolled());
  const std::array<IdentityKey, 2> devices = {hash(5), hash(9)};
  static_cast<void>(store.are_enrolled(devices));
  static_cast<void>(store.enrol({hash(5), hash(7), begin}));
  static_cast<void>(store.log_records(0, 100));
  static_cast<void>(store.actions(0, 100));
  static_cast<void>(store.next_round(hash(1)));
  if (const auto campaigns = store.campaigns())
    for (const StoredCampaign& campaign : *campaigns) {
      static_cast<void>(store.versions(campaign.hash));
      static_cast<void>(store.current_version(campaign.hash));
      static_cast<void>(store.left_out(campaign.hash));
    }
  if (const auto orders = store.unfinished_orders())
    for (const StoredOrder& order : *orders) {
      static_cast<void>(store.order(order.round));
      static_cast<void>(store.sums_of(order.round));
    }
  if (const auto lease = store.acquire("coordinator", "node", begin, std::chrono::minutes(1)))
    static_cast<void>(store.abandon_order(lease->fence, hash(2), "a test"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Workplace workplace;
  workplace.restore();
  FuzzedDataProvider input(data, size);
  if (input.ConsumeBool())
    damage_fields(workplace.file(), input);
  else
    damage_bytes(workplace.file(), input);
  use(workplace.folder());
  return 0;
}
