#pragma once
// Start here: one reader's device.
//
//   auto device = Device::open(folder, settings, host);   // history, ledger and answers live in the folder
//   device->refresh(transport);                           // fetch the public pack, the same for everybody
//   device->click("N123");                                // stays here
//   auto page = device->recommend(transport, 10);         // what may be told is charged before it is sent
//
// Nothing leaves the device but requests for the public pack and its guide, RecommendRequests built from a
// PaidQuery (or from nothing: the public list), and encrypted questions. When, how often and how noisily it
// asks follows from settings and clock alone. The list that comes back is ranked again here with the true
// user vector, and what was seen is removed here. When the budget is spent the device asks for the public
// list, when there is no network it ranks the pack by itself.
//
// Owns its folder (the ledger's lock keeps a second one out) and is movable. One call at a time. Needs
// libsodium and FlatBuffers; the parts below it (device/model, pack, query, rank) do not need the latter.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "device/query/query_settings.h"
#include "device/rank/reranker.h"
#include "privacy/ledger/ledger_anchor.h"
#include "privacy/ledger/ledger_settings.h"

namespace sotto::privacy {
struct LedgerStatement;
}

namespace sotto::device {

struct LabelChange;

struct DeviceSettings {
  // private: noisy queries. blind: encrypted questions, of which the server learns nothing. popular: the
  // public list, ranked here. local: the pack, ranked here; sends nothing.
  std::string ranking = "private";
  QuerySettings query;
  // What all answers together may tell; 0: no such budget. At least one is needed, unless nothing is told.
  double day_epsilon = 0;
  double month_epsilon = 0;
  double lifetime_epsilon = 0;
  double budget_delta = 1e-6;
  std::vector<std::string> not_sensitive;  // categories
  std::int64_t clicks_per_category = 200;

  void bind(SettingsTable& table);
};

// How a device reaches its server. Implementations add nothing that tells devices apart.
class Transport {
 public:
  virtual ~Transport() = default;

  struct Pack {
    enum class Form { unchanged, whole, delta } form = Form::unchanged;
    std::string bytes;
  };
  // installed: version of the pack the device has; empty: none.
  virtual Result<Pack> fetch_pack(std::string_view installed) = 0;
  // Body of a RecommendRequest; returns that of a RecommendAnswer. Anything else is an error.
  virtual Result<std::string> recommend(std::string_view body) = 0;

  // The guide of blind serving with this hash.
  virtual Result<std::string> fetch_guide(std::string_view) {
    return failed("this way to the server knows no blind serving");
  }
  // Body of a BlindQuery; returns that of a BlindAnswer.
  virtual Result<std::string> ask_blind(std::string_view) {
    return failed("this way to the server knows no blind serving");
  }
};

// Where time and noise come from, and what the host knows about the past. The defaults are the system's, and
// nothing.
struct DeviceEnvironment {
  std::function<privacy::ClockReading()> clock;
  RandomSource* simulated = nullptr;  // reproducible, protects nobody; must outlive the device
  // The host states that this device has never told anything before: a missing ledger is begun with its whole
  // budget. Without this it begins with its windows spent, because it may have been deleted.
  bool first_use = false;
  std::shared_ptr<privacy::AnchorStore>
      anchor;  // how far the ledger has come, kept where the folder's fate is not
  privacy::ServingMechanisms mechanisms = privacy::serving_mechanisms();
};

struct Recommendations {
  enum class Source {
    fresh_query,     // drawn and charged now
    repeated_query,  // drawn before, the period is not over
    expired_query,   // drawn before, the budget allows no new one
    blind_query,     // encrypted, asked now
    popular,         // the public list
    local,           // the pack; nothing was sent
  };
  std::vector<RankedItem> items;  // best first, scores by the true user vector
  Source source = Source::local;
  std::string note;  // why it is not what the settings ask for; empty if it is
};
std::string_view name(Recommendations::Source source);

class Device {
 public:
  // Creates the folder and the ledger when they are not there. A folder that other people may look into is
  // refused. Settings that differ from the last ones count from now on and are recorded in the ledger.
  static Result<Device> open(const fs::path& folder, const DeviceSettings& settings,
                             DeviceEnvironment environment = {});
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;
  ~Device();

  // A whole pack. Checked fully; a bad one changes nothing.
  Status install(std::string_view pack);
  // Fetches and installs whatever is newer. False: nothing was.
  Result<bool> refresh(Transport& transport);
  std::string pack_version() const;  // empty: none is installed

  Status click(std::string_view item);
  // Of an item that the pack does not hold (blind serving): with what came along when it was opened. A
  // category that the pack does not name counts as none, which is sensitive.
  struct OpenedItem {
    std::string id;
    std::vector<float> vector;  // of the installed model
    std::string category;
  };
  Status click(const OpenedItem& item);
  std::size_t clicks() const;
  // Forgets all clicks. What was told and charged stays told and charged.
  Status forget_clicks();

  // Items that the operator called something else after this device had seen them, oldest first: to be shown
  // to the person. Clicks on them stay as protected as their most sensitive name asks for.
  std::vector<LabelChange> label_changes() const;

  Result<Recommendations> recommend(Transport& transport, std::size_t count);
  // For idle moments of a device that asks blindly: fetches the guide and makes the keys of the next
  // question.
  Status prepare(Transport& transport);

  Result<privacy::LedgerStatement> statement();

 private:
  struct State;
  explicit Device(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sotto::device
