// What a browser needs beside sotto_device.h: a host whose clocks and anchor JavaScript brings, and a look at
// the bytes that leave.

#include <emscripten.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "device/sotto_device.h"
#include "device/wire/pack_codec.h"
#include "device/wire/query_wire.h"

// Seconds since this worker began, and since 1970.
EM_JS(double, sotto_running_seconds, (), { return performance.now() / 1000; });
EM_JS(double, sotto_wall_seconds, (), { return Date.now() / 1000; });

namespace {

// The ledger's anchor. JavaScript puts it here before a device is opened, and keeps what it finds here before
// anything is sent (web/src/device/store.ts).
std::string anchor;
std::uint64_t this_start = 0;  // of the worker: how long it runs is proved by its own clock alone

int load_anchor(void*, std::uint8_t* bytes, std::size_t* length) {
  if (anchor.size() > *length) return 1;
  std::memcpy(bytes, anchor.data(), anchor.size());
  *length = anchor.size();
  return 0;
}
int store_anchor(void*, const std::uint8_t* bytes, std::size_t length) {
  anchor.assign(reinterpret_cast<const char*>(bytes), length);
  return 0;
}
// A page cannot ask whether the system keeps its clock in step with a time server. What it can say is that no
// server sets it.
int read_clock(void*, sotto_clock* now) {
  *now = {static_cast<std::int64_t>(sotto_wall_seconds()), this_start,
          static_cast<std::int64_t>(sotto_running_seconds()), 1};
  return 0;
}

char* copy_of(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

nlohmann::json described(const sotto::privacy::ServingQuery& query) {
  using namespace sotto::privacy;
  if (const auto* numbers = std::get_if<PrototypeNumbers>(&query))
    return {{"says", "prototypes"}, {"prototypes", *numbers}};
  if (const auto* weights = std::get_if<BasisWeights>(&query))
    return {{"says", "weights"}, {"weights", *weights}};
  if (const auto* other = std::get_if<MechanismQuery>(&query))
    return {{"says", "mechanism"}, {"mechanism", other->mechanism}};
  return {{"says", "nothing"}};
}

// The vectors of the pack that the device has installed.
class ItemVectors {
 public:
  explicit ItemVectors(sotto::device::DevicePack pack) : pack_(std::move(pack)) {
    for (std::size_t row = 0; row < pack_.items.size(); ++row) rows_[pack_.items.ids[row]] = row;
  }
  // The cosine; none: the pack does not have one of them.
  std::optional<double> likeness(const std::string& one, const std::string& other) const {
    const auto a = rows_.find(one), b = rows_.find(other);
    if (a == rows_.end() || b == rows_.end()) return std::nullopt;
    std::vector<float> left(pack_.dimension), right(pack_.dimension);
    pack_.items.vectors.floats_of_row(a->second, left);
    pack_.items.vectors.floats_of_row(b->second, right);
    double product = 0, left_square = 0, right_square = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      product += static_cast<double>(left[i]) * right[i];
      left_square += static_cast<double>(left[i]) * left[i];
      right_square += static_cast<double>(right[i]) * right[i];
    }
    const double lengths = std::sqrt(left_square * right_square);
    return lengths > 0 ? product / lengths : 0;
  }

  std::size_t prototypes() const { return pack_.prototypes.rows(); }

 private:
  sotto::device::DevicePack pack_;
  std::unordered_map<std::string, std::size_t> rows_;
};

// Of the pack in the device's folder, read again when it is another one.
const ItemVectors* installed_items(const std::string& pack_file) {
  static std::unique_ptr<ItemVectors> items;
  static std::string version;
  const auto bytes = sotto::read_file(pack_file, sotto::device::max_pack_bytes);
  if (!bytes) return nullptr;
  const auto now = sotto::device::pack_version(*bytes);
  if (!now) return nullptr;
  if (*now != version) {
    auto pack = sotto::device::decode_pack(*bytes);
    if (!pack) return nullptr;
    items = std::make_unique<ItemVectors>(*std::move(pack));
    version = *now;
  }
  return items.get();
}

}  // namespace

extern "C" {

// start: a number other than 0 that no other worker has. first_use: as in sotto_host.
sotto_device* sotto_browser_open(const char* folder, const char* settings, std::uint32_t first_use,
                                 std::uint32_t start, sotto_error* error) {
  this_start = start;
  sotto_host host{};
  host.size = sizeof host;
  host.first_use = first_use;
  host.load_anchor = load_anchor;
  host.store_anchor = store_anchor;
  host.read_clock = read_clock;
  return sotto_device_open(folder, settings, &host, error);
}

void sotto_browser_set_anchor(const std::uint8_t* bytes, std::size_t length) {
  anchor.assign(reinterpret_cast<const char*>(bytes), length);
}
const char* sotto_browser_anchor() { return anchor.data(); }
std::size_t sotto_browser_anchor_length() { return anchor.size(); }

// The body of a question, read as its server reads it: JSON for the reader's eyes. NULL: it is none.
char* sotto_browser_describe(const char* pack_file, const std::uint8_t* body, std::size_t length) {
  const auto request = sotto::device::decode_recommend_request({reinterpret_cast<const char*>(body), length});
  if (!request) return nullptr;
  nlohmann::json said = described(request->query);
  if (const ItemVectors* items = installed_items(pack_file)) said["prototypes_in_all"] = items->prototypes();
  said["model"] = request->model;
  said["count"] = request->count;
  said["categories"] = request->categories;
  said["language"] = request->language;
  return copy_of(said.dump());
}

// Why an item may interest its reader: which of those that were read are like it, as [[id, cosine], ...],
// most alike first. read: ids with line ends between them.
char* sotto_browser_alike(const char* pack_file, const char* item, const char* read) {
  const ItemVectors* items = installed_items(pack_file);
  if (items == nullptr) return nullptr;
  std::vector<std::pair<std::string, double>> found;
  std::istringstream ids(read);
  for (std::string id; std::getline(ids, id);)
    if (const auto likeness = items->likeness(item, id)) found.emplace_back(id, *likeness);
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return copy_of(nlohmann::json(found).dump());
}

}  // extern "C"
