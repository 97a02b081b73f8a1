// sotto_device.h over Device: handles, copies of texts, and nothing thrown beyond here.

#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/settings.h"
#include "base/utf8.h"
#include "device/history/history_store.h"
#include "device/rounds/round_calls.h"
#include "device/sdk/device_json.h"
#include "device/sotto_device.h"
#include "privacy/ledger/ledger_statement.h"

namespace sotto::device {
namespace {

// The host's functions as this library knows them.
class HostAnchor final : public privacy::AnchorStore {
 public:
  explicit HostAnchor(const sotto_host& host) : host_(host) {}

  Result<std::optional<std::string>> load() override {
    std::array<std::uint8_t, 128> bytes{};
    std::size_t length = bytes.size();
    if (host_.load_anchor(host_.context, bytes.data(), &length) != 0 || length > bytes.size())
      return failed("the host cannot read the ledger's anchor");
    if (length == 0) return std::optional<std::string>();
    return std::optional(std::string(reinterpret_cast<const char*>(bytes.data()), length));
  }
  Status store(std::string_view anchor) override {
    if (host_.store_anchor(host_.context, reinterpret_cast<const std::uint8_t*>(anchor.data()),
                           anchor.size()) != 0)
      return failed("the host cannot keep the ledger's anchor");
    return {};
  }

 private:
  sotto_host host_;
};

privacy::ClockReading read_clock(const sotto_host& host) {
  sotto_clock now{};
  // A clock that cannot be read says nothing: the ledger's own stays where it is.
  if (host.read_clock(host.context, &now) != 0 || now.wall_seconds < 0 || now.running_seconds < 0)
    return {privacy::UtcTime(), std::nullopt, false};
  std::optional<privacy::RunningTime> running;
  if (now.boot != 0) running = {now.boot, std::chrono::seconds(now.running_seconds)};
  return {privacy::UtcTime(std::chrono::seconds(now.wall_seconds)), running, now.vouched != 0};
}

Result<DeviceEnvironment> environment_of(const sotto_host* given) {
  DeviceEnvironment environment;
  if (given == nullptr) return environment;
  sotto_host host{};
  if (given->size < offsetof(sotto_host, context) + sizeof(void*))
    return bad_input("the host's size is {}: set it to sizeof(sotto_host)", given->size);
  std::memcpy(&host, given, std::min<std::size_t>(given->size, sizeof host));
  environment.first_use = host.first_use != 0;
  if ((host.load_anchor == nullptr) != (host.store_anchor == nullptr))
    return bad_input("an anchor is both read and kept: give load_anchor and store_anchor, or neither");
  if (host.load_anchor != nullptr) environment.anchor = std::make_shared<HostAnchor>(host);
  if (host.conditions != nullptr)
    environment.conditions = [host] {
      const std::uint32_t now = host.conditions(host.context);
      return Conditions{(now & SOTTO_IDLE) != 0, (now & SOTTO_UNMETERED) != 0, (now & SOTTO_CHARGING) != 0};
    };
  if (host.read_clock != nullptr) environment.clock = [host] { return read_clock(host); };
  return environment;
}

Result<DeviceSettings> settings_of(const char* lines) {
  DeviceSettings settings;
  settings.ranking = "local";
  SettingsTable table;
  settings.bind(table);
  std::istringstream text(lines == nullptr ? "" : lines);
  for (std::string line; std::getline(text, line);)
    if (!line.empty()) SOTTO_CHECK(table.set_assignment(line));
  return settings;
}

void tell(sotto_error* error, std::int32_t code, std::string_view message) {
  if (error == nullptr) return;
  error->code = code;
  const std::size_t length = std::min(message.size(), sizeof error->message - 1);
  std::memcpy(error->message, message.data(), length);
  error->message[length] = '\0';
}

void tell(sotto_error* error, const Error& what) {
  tell(error, what.kind == ErrorKind::bad_input ? SOTTO_WRONG_USE : SOTTO_FAILED, what.message);
}

// Runs `act`, which returns a Result; whatever goes wrong is told, and `otherwise` is returned.
template <class Value, class Act>
Value guarded(sotto_error* error, Value otherwise, const Act& act) noexcept {
  try {
    tell(error, SOTTO_OK, "");
    auto done = act();
    if (done) {
      if constexpr (std::is_same_v<Value, std::int32_t>)
        return SOTTO_OK;
      else
        return *std::move(done);
    }
    tell(error, done.error());
    if constexpr (std::is_same_v<Value, std::int32_t>)
      return done.error().kind == ErrorKind::bad_input ? SOTTO_WRONG_USE : SOTTO_FAILED;
  } catch (const std::bad_alloc&) {
    tell(error, SOTTO_FAILED, "there is not enough memory");
  } catch (const std::exception& thrown) {
    tell(error, SOTTO_FAILED, thrown.what());
  } catch (...) {
    tell(error, SOTTO_FAILED, "something unknown went wrong");
  }
  return otherwise;
}

template <class Act>
std::int32_t status_of(sotto_error* error, const Act& act) noexcept {
  return guarded<std::int32_t>(error, SOTTO_FAILED, act);
}

char* copy_of(std::string_view text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

template <class Act>
char* text_of(sotto_error* error, const Act& act) noexcept {
  // What copy_of throws is caught by guarded.
  // cppcheck-suppress throwInNoexceptFunction
  return guarded<char*>(error, nullptr, [&]() -> Result<char*> {
    SOTTO_TRY(const std::string text, act());
    return copy_of(text);
  });
}

Status need(const void* given, std::string_view what) {
  if (given == nullptr) return bad_input("{} is NULL", what);
  return {};
}

// A conversation of any kind, and what its result is called.
class AnyTalk {
 public:
  virtual ~AnyTalk() = default;
  virtual ServerStep next() = 0;
  virtual void received(ServerAnswer answer) = 0;
  virtual void lost(std::string why) = 0;
  virtual Result<std::string> result() = 0;
};

template <class T, class Say>
class TalkOf final : public AnyTalk {
 public:
  TalkOf(Conversation<T> talk, Say say) : talk_(std::move(talk)), say_(std::move(say)) {}
  ServerStep next() override { return talk_.next(); }
  void received(ServerAnswer answer) override { talk_.received(std::move(answer)); }
  void lost(std::string why) override { talk_.lost(std::move(why)); }
  Result<std::string> result() override {
    if (!talk_.is_over()) return bad_input("the talk is not over: sotto_talk_next says what to do");
    if (!talk_.result()) return tl::unexpected(talk_.result().error());
    if constexpr (std::is_void_v<T>)
      return to_line(say_());
    else
      return to_line(say_(*talk_.result()));
  }

 private:
  Conversation<T> talk_;
  Say say_;
};

}  // namespace
}  // namespace sotto::device

using namespace sotto;
using namespace sotto::device;

struct sotto_device {
  std::shared_ptr<Device> device;
};

struct sotto_talk {
  std::shared_ptr<Device> device;  // outlives the conversation
  std::unique_ptr<AnyTalk> talk;
  ServerStep step = ServerDone{};
  std::vector<const char*> names, values;
};

namespace {

template <class T, class Say>
sotto_talk* new_talk(const sotto_device& device, Conversation<T> talk, Say say) {
  return new sotto_talk{
      device.device, std::make_unique<TalkOf<T, Say>>(std::move(talk), std::move(say)), ServerDone{}, {}, {}};
}

template <class Start>
sotto_talk* start(sotto_error* error, const sotto_device* device, const Start& begin) noexcept {
  return guarded<sotto_talk*>(error, nullptr, [&]() -> Result<sotto_talk*> {
    SOTTO_CHECK(need(device, "the device"));
    return begin(*device->device);
  });
}

// A host shows this very text, so it says all that is agreed to.
Result<std::string> terms_text(const Device& device, const std::string& service, const std::string& purpose,
                               std::uint32_t scope) {
  const ConsentTerms terms =
      device.terms(service, purpose, {(scope & SOTTO_TRAINING) != 0, (scope & SOTTO_ASKING) != 0});
  SOTTO_CHECK(validate(terms));
  return to_line(to_json(terms));
}

Result<std::vector<FieldValue>> values_of(const char* const* features, const char* const* values,
                                          std::size_t count) {
  std::vector<FieldValue> said;
  if (count == 0) return said;
  SOTTO_CHECK(need(features, "the features"));
  SOTTO_CHECK(need(values, "their values"));
  for (std::size_t i = 0; i < count; ++i) {
    SOTTO_CHECK(need(features[i], "a feature"));
    SOTTO_CHECK(need(values[i], "a feature's value"));
    said.push_back({features[i], values[i]});
  }
  return said;
}

void describe(sotto_talk& talk, sotto_step& step) {
  step = {};
  if (const auto* call = std::get_if<ServerCall>(&talk.step)) {
    talk.names.clear();
    talk.values.clear();
    for (const auto& [name, value] : call->headers) {
      talk.names.push_back(name.c_str());
      talk.values.push_back(value.c_str());
    }
    step.kind = SOTTO_CALL;
    step.method = call->method.c_str();
    step.path = call->path.c_str();
    step.header_count = talk.names.size();
    step.header_names = talk.names.data();
    step.header_values = talk.values.data();
    step.body = reinterpret_cast<const std::uint8_t*>(call->body.data());
    step.body_length = call->body.size();
  } else if (const auto* pause = std::get_if<ServerPause>(&talk.step)) {
    step.kind = SOTTO_WAIT;
    step.wait_milliseconds = static_cast<std::uint32_t>(pause->time.count());
  } else {
    step.kind = SOTTO_DONE;
  }
}

}  // namespace

extern "C" {

std::uint32_t sotto_device_version(void) { return SOTTO_DEVICE_VERSION; }

void sotto_text_free(char* text) { std::free(text); }

sotto_device* sotto_device_open(const char* folder, const char* settings, const sotto_host* host,
                                sotto_error* error) {
  return guarded<sotto_device*>(error, nullptr, [&]() -> Result<sotto_device*> {
    SOTTO_CHECK(need(folder, "the folder"));
    SOTTO_TRY(const DeviceSettings wanted, settings_of(settings));
    SOTTO_TRY(DeviceEnvironment environment, environment_of(host));
    SOTTO_TRY(Device device, Device::open(folder, wanted, std::move(environment)));
    return new sotto_device{std::make_shared<Device>(std::move(device))};
  });
}

void sotto_device_close(sotto_device* device) { delete device; }

char* sotto_device_settings(void) {
  return text_of(nullptr, []() -> Result<std::string> {
    DeviceSettings settings;
    settings.ranking = "local";
    SettingsTable table;
    settings.bind(table);
    return table.to_markdown();
  });
}

char* sotto_device_terms(sotto_device* device, const char* service, const char* purpose, std::uint32_t scope,
                         sotto_error* error) {
  return text_of(error, [&]() -> Result<std::string> {
    SOTTO_CHECK(need(device, "the device"));
    SOTTO_CHECK(need(service, "the service"));
    SOTTO_CHECK(need(purpose, "the purpose"));
    return terms_text(*device->device, service, purpose, scope);
  });
}

std::int32_t sotto_device_agree(sotto_device* device, const char* terms, sotto_error* error) {
  return status_of(error, [&]() -> Status {
    SOTTO_CHECK(need(device, "the device"));
    SOTTO_CHECK(need(terms, "the terms"));
    const auto shown = nlohmann::json::parse(terms, nullptr, false);
    const auto text = [&](const char* key) {
      const bool there = shown.is_object() && shown.contains(key) && shown[key].is_string();
      return there ? shown[key].get<std::string>() : std::string();
    };
    const auto flag = [&](const char* key) {
      return shown.is_object() && shown.contains(key) && shown[key].is_boolean() && shown[key].get<bool>();
    };
    const std::uint32_t scope = static_cast<std::uint32_t>(flag("training") ? SOTTO_TRAINING : 0) |
                                static_cast<std::uint32_t>(flag("asking") ? SOTTO_ASKING : 0);
    SOTTO_TRY(const std::string now, terms_text(*device->device, text("service"), text("purpose"), scope));
    if (now != terms)
      return bad_input(
          "these are not the terms of this device: show what sotto_device_terms gives, and ask again");
    return device->device->agree(device->device->terms(
        text("service"), text("purpose"), {(scope & SOTTO_TRAINING) != 0, (scope & SOTTO_ASKING) != 0}));
  });
}

char* sotto_device_consent(sotto_device* device, sotto_error* error) {
  return text_of(error, [&]() -> Result<std::string> {
    SOTTO_CHECK(need(device, "the device"));
    const auto& consent = device->device->consent();
    return consent ? to_line(to_json(*consent)) : std::string("null");
  });
}

std::int32_t sotto_device_withdraw(sotto_device* device, sotto_error* error) {
  return status_of(error, [&]() -> Status {
    SOTTO_CHECK(need(device, "the device"));
    return device->device->withdraw();
  });
}

std::int32_t sotto_device_click(sotto_device* device, const char* item, sotto_error* error) {
  return status_of(error, [&]() -> Status {
    SOTTO_CHECK(need(device, "the device"));
    SOTTO_CHECK(need(item, "the item"));
    return device->device->click(item);
  });
}

std::int32_t sotto_device_click_opened(sotto_device* device, const char* item, const float* vector,
                                       std::size_t dimension, const char* category, sotto_error* error) {
  return status_of(error, [&]() -> Status {
    SOTTO_CHECK(need(device, "the device"));
    SOTTO_CHECK(need(item, "the item"));
    SOTTO_CHECK(need(vector, "the vector"));
    return device->device->click(
        Device::OpenedItem{item, {vector, vector + dimension}, category == nullptr ? "" : category});
  });
}

std::int32_t sotto_device_add_page(sotto_device* device, const char* const* shown,
                                   const std::uint8_t* clicked, std::size_t count, sotto_error* error) {
  return status_of(error, [&]() -> Status {
    SOTTO_CHECK(need(device, "the device"));
    SOTTO_CHECK(need(shown, "what was shown"));
    SOTTO_CHECK(need(clicked, "what was clicked"));
    std::vector<std::string> items;
    for (std::size_t i = 0; i < count; ++i) {
      SOTTO_CHECK(need(shown[i], "an item that was shown"));
      items.emplace_back(shown[i]);
    }
    return device->device->add_page(std::move(items), {clicked, clicked + count});
  });
}

std::int32_t sotto_device_add_row(sotto_device* device, const char* item, const float* rating,
                                  const char* const* features, const char* const* values, std::size_t count,
                                  sotto_error* error) {
  return status_of(error, [&]() -> Status {
    SOTTO_CHECK(need(device, "the device"));
    SOTTO_CHECK(need(item, "the item"));
    SOTTO_TRY(auto situation, values_of(features, values, count));
    return device->device->add_row(item, rating == nullptr ? std::nullopt : std::optional(*rating),
                                   std::move(situation));
  });
}

std::int32_t sotto_device_set_profile(sotto_device* device, const char* const* features,
                                      const char* const* values, std::size_t count, sotto_error* error) {
  return status_of(error, [&]() -> Status {
    SOTTO_CHECK(need(device, "the device"));
    SOTTO_TRY(auto profile, values_of(features, values, count));
    return device->device->set_profile(std::move(profile));
  });
}

std::int32_t sotto_device_install_pack(sotto_device* device, const std::uint8_t* bytes, std::size_t length,
                                       sotto_error* error) {
  return status_of(error, [&]() -> Status {
    SOTTO_CHECK(need(device, "the device"));
    SOTTO_CHECK(need(bytes, "the pack"));
    return device->device->install({reinterpret_cast<const char*>(bytes), length});
  });
}

char* sotto_device_rank_again(sotto_device* device, const char* const* items, std::size_t count,
                              std::uint32_t wanted, sotto_error* error) {
  return text_of(error, [&]() -> Result<std::string> {
    SOTTO_CHECK(need(device, "the device"));
    if (count > 0) SOTTO_CHECK(need(items, "the items"));
    std::vector<std::string> named;
    for (std::size_t i = 0; i < count; ++i) {
      SOTTO_CHECK(need(items[i], "an item"));
      named.emplace_back(items[i]);
    }
    SOTTO_TRY(const Recommendations page, device->device->rank_again(named, wanted));
    return to_line(to_json(page));
  });
}

char* sotto_device_statement(sotto_device* device, sotto_error* error) {
  return text_of(error, [&]() -> Result<std::string> {
    SOTTO_CHECK(need(device, "the device"));
    SOTTO_TRY(const auto statement, device->device->statement());
    return privacy::to_json(statement);
  });
}

char* sotto_device_label_changes(sotto_device* device, sotto_error* error) {
  return text_of(error, [&]() -> Result<std::string> {
    SOTTO_CHECK(need(device, "the device"));
    return to_line(to_json(device->device->label_changes()));
  });
}

char* sotto_device_export(sotto_device* device, sotto_error* error) {
  return text_of(error, [&]() -> Result<std::string> {
    SOTTO_CHECK(need(device, "the device"));
    return device->device->export_all();
  });
}

std::int32_t sotto_device_forget(sotto_device* device, sotto_error* error) {
  return status_of(error, [&]() -> Status {
    SOTTO_CHECK(need(device, "the device"));
    return device->device->forget_reading();
  });
}

std::int32_t sotto_device_forget_item(sotto_device* device, const char* item, sotto_error* error) {
  return status_of(error, [&]() -> Status {
    SOTTO_CHECK(need(device, "the device"));
    SOTTO_CHECK(need(item, "the item"));
    return device->device->forget_item(item);
  });
}

std::int32_t sotto_device_erase(sotto_device* device, sotto_error* error) {
  return status_of(error, [&]() -> Status {
    SOTTO_CHECK(need(device, "the device"));
    if (device->device.use_count() > 1) return bad_input("a talk of this device is under way: free it first");
    SOTTO_CHECK(Device::erase(std::move(*device->device)));
    delete device;
    return {};
  });
}

sotto_talk* sotto_device_refresh(sotto_device* device, sotto_error* error) {
  return start(error, device, [&](Device& used) {
    return new_talk(*device, used.refresh(), [](bool is_new) { return nlohmann::json{{"new", is_new}}; });
  });
}

sotto_talk* sotto_device_recommend(sotto_device* device, std::uint32_t count, sotto_error* error) {
  return start(error, device, [&](Device& used) {
    return new_talk(*device, used.recommend(count),
                    [](const Recommendations& page) { return to_json(page); });
  });
}

sotto_talk* sotto_device_prepare(sotto_device* device, sotto_error* error) {
  return start(error, device, [&](Device& used) {
    return new_talk(*device, used.prepare(), [] { return nlohmann::json{{"prepared", true}}; });
  });
}

sotto_talk* sotto_device_campaign(sotto_device* device, sotto_error* error) {
  return start(error, device, [&](Device&) {
    return new_talk(*device, fetch_campaign(),
                    [](const rounds::OpenedCampaign& opened) { return to_json(opened.campaign); });
  });
}

sotto_talk* sotto_device_enrol(sotto_device* device, const std::uint8_t* token, std::size_t length,
                               const char* operator_key, const char* recovery_key, sotto_error* error) {
  return guarded<sotto_talk*>(error, nullptr, [&]() -> Result<sotto_talk*> {
    SOTTO_CHECK(need(device, "the device"));
    SOTTO_CHECK(need(token, "the token"));
    SOTTO_CHECK(need(operator_key, "the operator's key"));
    SOTTO_TRY(const auto key, rounds::digest_from_hex(operator_key, "the operator's key"));
    std::optional<rounds::IdentityKey> recovery;
    if (recovery_key != nullptr) {
      SOTTO_TRY(recovery, rounds::digest_from_hex(recovery_key, "the recovery key"));
    }
    return new_talk(*device,
                    device->device->enrol(std::string(reinterpret_cast<const char*>(token), length),
                                          rounds::OperatorKeys(key, recovery)),
                    [] {
                      return nlohmann::json{{"enrolled", true}};
                    });
  });
}

sotto_talk* sotto_device_train(sotto_device* device, sotto_error* error) {
  return start(error, device, [&](Device& used) {
    return new_talk(*device, used.take_part([] { return false; }),
                    [](const Participation& part) { return to_json(part); });
  });
}

std::int32_t sotto_talk_next(sotto_talk* talk, sotto_step* step, sotto_error* error) {
  return status_of(error, [&]() -> Status {
    SOTTO_CHECK(need(talk, "the talk"));
    SOTTO_CHECK(need(step, "the step"));
    talk->step = talk->talk->next();
    describe(*talk, *step);
    return {};
  });
}

std::int32_t sotto_talk_received(sotto_talk* talk, std::int32_t status, const std::uint8_t* body,
                                 std::size_t length, sotto_error* error) {
  return sotto_talk_received_with(talk, status, body, length, nullptr, error);
}

std::int32_t sotto_talk_received_with(sotto_talk* talk, std::int32_t status, const std::uint8_t* body,
                                      std::size_t length, const char* come_back, sotto_error* error) {
  return status_of(error, [&]() -> Status {
    SOTTO_CHECK(need(talk, "the talk"));
    if (length > 0) SOTTO_CHECK(need(body, "the body"));
    talk->talk->received({status, length == 0 ? "" : std::string(reinterpret_cast<const char*>(body), length),
                          come_back == nullptr ? "" : come_back});
    return {};
  });
}

std::int32_t sotto_talk_lost(sotto_talk* talk, const char* why, sotto_error* error) {
  return status_of(error, [&]() -> Status {
    SOTTO_CHECK(need(talk, "the talk"));
    talk->talk->lost(why == nullptr ? "the server was not reached" : printable(why));
    return {};
  });
}

char* sotto_talk_result(sotto_talk* talk, sotto_error* error) {
  return text_of(error, [&]() -> Result<std::string> {
    SOTTO_CHECK(need(talk, "the talk"));
    return talk->talk->result();
  });
}

void sotto_talk_free(sotto_talk* talk) { delete talk; }

}  // extern "C"
