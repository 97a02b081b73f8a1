#pragma once
// Start here: one reader's device.
//
//   auto device = Device::open(folder, settings, host);   // everything it knows lives in the folder
//   device->agree(device->terms(url, purpose, {.training = true, .asking = true}));   // its person said yes
//   device->refresh(server);                              // fetch the public pack, the same for everybody
//   device->click("N123");                                // stays here
//   auto page = device->recommend(server, 10);            // what may be told is charged before it is sent
//   device->enrol(coordinator, token, operator_key);
//   device->take_part(coordinator, hooks);                // in a round of training, charged like an answer
//
// What speaks to a server exists twice: with a Transport that carries bytes it is done when the call returns;
// without, it is a Conversation (conversation.h) that its caller carries out.
//
// Nothing leaves the device but requests for the public pack and its guide, RecommendRequests built from a
// PaidQuery (or from nothing: the public list), encrypted questions, and a part of a secure sum. When, how
// often and how noisily it asks follows from settings and clock alone. Before its person has agreed it asks
// nothing, enrols nowhere and trains for nobody; after withdraw() it does so no more. The list that comes
// back is ranked again here with the true user vector, and what was seen is removed here. When the budget is
// spent the device asks for the public list, when there is no network it ranks the pack by itself.
//
// Owns its folder (the ledger's lock keeps a second one out) and is movable. One call at a time;
// conversations may take turns, and must not outlive the device. Needs libsodium and FlatBuffers; the parts
// below it (device/model, pack, query, rank) do not need the latter.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "device/conversation.h"
#include "device/history/impression_store.h"
#include "device/history/row_store.h"
#include "device/rank/reranker.h"
#include "device/rounds/participant.h"
#include "device/sdk/consent.h"
#include "device/sdk/device_settings.h"
#include "privacy/ledger/ledger_anchor.h"
#include "privacy/serving/serving_mechanism.h"

namespace sotto::privacy {
struct LedgerStatement;
}

namespace sotto::device {

struct LabelChange;

// As the host knows them: whether now is a good time to train.
struct Conditions {
  bool idle = false, unmetered = false, charging = false;
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
  // Asked before and while it trains, for those that the settings demand. None: nothing is known, and nothing
  // is demanded.
  std::function<Conditions()> conditions;
  // Draws of rounds as a simulation addresses them; none: secret ones. Must outlive the device.
  RoundDraws* round_draws = nullptr;
  // How time passes between an offer and joining; never runs back.
  std::function<std::chrono::steady_clock::time_point()> steady = std::chrono::steady_clock::now;
};

// What a round needs of its host while it lasts.
struct RoundHooks {
  std::function<bool()> cancelled;  // asked between steps and while it trains; true ends the round
  std::function<void(std::chrono::milliseconds)> wait;  // sleeps; a conversation has no use for it
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
  // refused. Settings that differ from the last ones count from now on and are recorded in the ledger. What
  // is older than they keep it is deleted.
  static Result<Device> open(const fs::path& folder, const DeviceSettings& settings,
                             DeviceEnvironment environment = {});
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;
  ~Device();

  // What its person is to be asked under the settings of this device.
  struct Scope {
    bool training = false, asking = false;
  };
  ConsentTerms terms(std::string service, std::string purpose, Scope scope) const;
  // The person was shown these terms and said yes. Refuses terms that are not those of the settings. Replaces
  // what was agreed to before.
  Status agree(const ConsentTerms& terms);
  const std::optional<Consent>& consent() const;
  // Consent and key are gone, and nothing is sent any more. What was read stays until it is forgotten.
  Status withdraw();

  // A whole pack. Checked fully; a bad one changes nothing.
  Status install(std::string_view pack);
  // Fetches and installs whatever is newer. False: nothing was.
  Conversation<bool> refresh();
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
  // A page that was shown just now, and what was clicked of it (1 or 0 for each): what it trains on. Clicks
  // on items of the pack count as click() too.
  Status add_page(std::vector<std::string> shown, std::vector<std::uint8_t> clicked);
  // Pages with times and what was clicked before each, as another device kept them.
  Status add_pages(std::vector<StoredImpression> pages);
  const std::vector<StoredImpression>& pages() const;
  // What was used or rated, one item at a time, and what the device knows of its reader: what it trains on
  // where a recipe reads interactions. Features and values by the names that the service has published.
  Status add_row(std::string item, std::optional<float> rating, std::vector<FieldValue> situation);  // now
  Status add_rows(std::vector<StoredRow> rows);         // with times, as another device kept them
  Status set_profile(std::vector<FieldValue> profile);  // in place of the one before
  const StoredRows& rows() const;

  // Deletes what was read: clicks, pages, rows, profile and answers. What was told and charged stays told and
  // charged.
  Status forget_reading();
  // Deletes what was read of one item: its clicks, where pages say that it was clicked, and its rows. An
  // answer that was drawn before stays until its period is over, though this item had a part in it: drawn
  // anew it would be paid for again, at a moment that tells of the deletion.
  Status forget_item(std::string_view item);
  // Deletes the folder and everything in it, the ledger too: where the host keeps an anchor, or does not
  // state a first use, a new one begins with its windows spent.
  static Status erase(Device device);

  // Items that the operator called something else after this device had seen them, oldest first: to be shown
  // to the person. Clicks on them stay as protected as their most sensitive name asks for.
  std::vector<LabelChange> label_changes() const;

  Conversation<Recommendations> recommend(std::size_t count);
  Result<Recommendations> recommend(Transport& transport, std::size_t count);
  // Ranks these items once more by what has been read meanwhile, or the whole pool where none are named. Here
  // and now, without a question: a page that follows its reader's clicks tells nobody when they happen.
  Result<Recommendations> rank_again(std::span<const std::string> items, std::size_t count);

  // For idle moments of a device that asks blindly: fetches the guide and makes the keys of the next
  // question.
  Conversation<void> prepare();
  Status prepare(Transport& transport);

  // Makes the device known to a coordinator, whose campaigns this operator signs. The keys come with the app;
  // later ones are followed (rounds/operator_keys.h). Needs consent to train.
  Conversation<void> enrol(std::string token, const rounds::OperatorKeys& pinned);
  Status enrol(Transport& transport, std::string token, const rounds::OperatorKeys& pinned);
  std::optional<rounds::IdentityKey> enrolled_with() const;  // the operator's key now; none: not enrolled
  const secagg::Identity* identity() const;                  // by which the coordinator knows it
  // One round, from its offer to its end. Needs consent and enrolment.
  Conversation<Participation> take_part(std::function<bool()> cancelled);
  Result<Participation> take_part(Transport& transport, const RoundHooks& hooks);

  Result<privacy::LedgerStatement> statement();
  // Everything that is kept about its person, as one JSON object.
  Result<std::string> export_all();

 private:
  struct State;
  explicit Device(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sotto::device
