#pragma once
// A device as 'sotto device' keeps it: its folder with its settings, and outside of the folder the anchor of
// its ledger, so that whoever deletes the folder or puts an older copy in its place does not bring a budget
// back. The anchor is in the person's folder for state, under a name made from that of the device's folder,
// unless a file is named; which one it is, is noted in the folder, and counts when the folder is moved.

#include <memory>
#include <string>

#include "base/files.h"
#include "device/device.h"

namespace sotto::cli {

struct DeviceAnchor {
  fs::path file;
  bool is_noted = false;   // in the device's folder
  bool was_there = false;  // a device was kept under this name before
  std::shared_ptr<privacy::AnchorStore> store;
};
// wanted: a file; empty: the one that is noted, else the usual one.
Result<DeviceAnchor> anchor_of(const fs::path& folder, const std::string& wanted);

fs::path settings_file(const fs::path& folder);
// Defaults that are safe to begin with; a person changes them in device.toml.
device::DeviceSettings first_settings();
Result<device::DeviceSettings> read_settings(const fs::path& folder);

Result<device::Device> open_device(const fs::path& folder, const device::DeviceSettings& settings,
                                   const std::string& anchor_file);
// One that is not there yet. What is left of one that could not be made is removed again.
Result<device::Device> begin_device(const fs::path& folder, device::DeviceSettings settings,
                                    const DeviceAnchor& anchor, bool first_use);

}  // namespace sotto::cli
