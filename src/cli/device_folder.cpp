#ifdef SOTTO_HAVE_NET

#include "cli/device_folder.h"

#include <algorithm>
#include <cstdlib>

#include "base/chain_hash.h"
#include "base/settings.h"
#include "privacy/ledger/ledger.h"
#include "rounds/model_version.h"

namespace sotto::cli {

namespace {

constexpr std::uint64_t most_path_bytes = 4096;

fs::path note_in(const fs::path& folder) { return folder / "anchor-path"; }

Status note_anchor(const fs::path& folder, const DeviceAnchor& anchor) {
  return write_file_atomically(note_in(folder), anchor.file.string(), FileReaders::owner);
}

Result<fs::path> absolute_path(const fs::path& path) {
  std::error_code wrong;
  fs::path whole = fs::absolute(path, wrong);
  if (!wrong) whole = fs::weakly_canonical(whole, wrong);
  if (wrong) return failed("cannot look at {}: {}", path.string(), wrong.message());
  return whole;
}

std::string of_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// As the XDG Base Directory Specification has it: paths that are not absolute are passed over.
Result<fs::path> state_folder() {
  if (const fs::path state = of_environment("XDG_STATE_HOME"); state.is_absolute()) return state;
  if (const fs::path home = of_environment("HOME"); home.is_absolute()) return home / ".local" / "state";
  return bad_input(
      "neither XDG_STATE_HOME nor HOME says where the anchor of the device's ledger may be kept: name a file "
      "outside of the device's folder with --anchor FILE");
}

// Of the same folder always the same one, and of two folders with one name two.
Result<fs::path> usual_file(const fs::path& folder) {
  SOTTO_TRY(const fs::path whole, absolute_path(folder));
  SOTTO_TRY(const fs::path state, state_folder());
  constexpr std::size_t digits = 16;
  return state / "sotto" / "anchors" / to_hex(rounds::blob_hash(whole.string())).substr(0, digits);
}

}  // namespace

Result<DeviceAnchor> anchor_of(const fs::path& folder, const std::string& wanted) {
  DeviceAnchor anchor;
  std::error_code unreadable;
  anchor.is_noted = fs::exists(note_in(folder), unreadable);
  if (!wanted.empty()) {
    SOTTO_TRY(anchor.file, absolute_path(wanted));
    SOTTO_TRY(const fs::path device, absolute_path(folder));
    const auto [end, rest] =
        std::mismatch(device.begin(), device.end(), anchor.file.begin(), anchor.file.end());
    if (end == device.end())
      return bad_input("{} lies in the device's folder, whose fate it must not share: name a file elsewhere",
                       anchor.file.string());
  } else if (anchor.is_noted) {
    SOTTO_TRY(const std::string noted, read_file(note_in(folder), most_path_bytes));
    anchor.file = noted;
  } else {
    SOTTO_TRY(anchor.file, usual_file(folder));
  }
  fs::create_directories(anchor.file.parent_path(), unreadable);
  if (unreadable)
    return failed("cannot make the folder {} for the anchor of the device's ledger: {}",
                  anchor.file.parent_path().string(), unreadable.message());
  anchor.was_there = fs::exists(anchor.file, unreadable);
  anchor.store = privacy::anchor_file(anchor.file);
  return anchor;
}

fs::path settings_file(const fs::path& folder) { return folder / "device.toml"; }

device::DeviceSettings first_settings() {
  device::DeviceSettings settings;
  settings.ranking = "local";
  settings.lifetime_epsilon = 10;
  settings.budget_delta = 1e-5;
  return settings;
}

Result<device::DeviceSettings> read_settings(const fs::path& folder) {
  device::DeviceSettings settings = first_settings();
  if (!fs::exists(settings_file(folder)))
    return bad_input(
        "{} is no device: 'sotto device --store DIR new' makes one that is recommended to, 'enrol' one that "
        "trains too",
        folder.string());
  SettingsTable table;
  settings.bind(table);
  SOTTO_CHECK(table.load_toml(settings_file(folder)));
  return settings;
}

Result<device::Device> open_device(const fs::path& folder, const device::DeviceSettings& settings,
                                   const std::string& anchor_file) {
  SOTTO_TRY(const DeviceAnchor anchor, anchor_of(folder, anchor_file));
  // One that was made without an anchor is given one now, as it is.
  const bool is_taken_over = !anchor.is_noted && fs::exists(folder / privacy::ledger_file_name);
  SOTTO_TRY(auto device,
            device::Device::open(folder, settings, {.first_use = is_taken_over, .anchor = anchor.store}));
  SOTTO_CHECK(note_anchor(folder, anchor));
  return device;
}

Result<device::Device> begin_device(const fs::path& folder, device::DeviceSettings settings,
                                    const DeviceAnchor& anchor, bool first_use) {
  const bool is_new = !fs::exists(folder);
  auto begun = device::Device::open(folder, settings, {.first_use = first_use, .anchor = anchor.store});
  if (!begun && is_new) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    if (!anchor.was_there) fs::remove(anchor.file, ignored);
  }
  if (!begun) return begun;
  SOTTO_CHECK(note_anchor(folder, anchor));
  SettingsTable table;
  settings.bind(table);
  SOTTO_CHECK(write_file_atomically(settings_file(folder), table.to_toml(), FileReaders::owner));
  return begun;
}

}  // namespace sotto::cli

#endif
