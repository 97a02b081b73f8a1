// Any bytes as a pack, as a delta and as a stored history: refused, or taken for what they are, but no crash.
// With the top bit of the first byte set the rest are pairs (place, byte) that replace bytes of a real pack
// or delta, which gets past the first checks; the bit below it chooses the pack's user model.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "device/history/history_store.h"
#include "device/wire/pack_codec.h"

namespace {

using namespace sotto;

device::PackTensor tensor(std::string name, std::vector<std::uint32_t> shape, device::NumberForm form) {
  std::size_t count = 1;
  for (const std::uint32_t extent : shape) count *= extent;
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 0.25F * static_cast<float>(i % 7) - 0.5F;
  return *device::PackTensor::from_floats(std::move(name), std::move(shape), values, form);
}

device::PackUserModel pooled_model() {
  return {"naml",
          1,
          1,
          5,
          {tensor("clicks.weight", {2, 3}, device::NumberForm::f16),
           tensor("clicks.bias", {3}, device::NumberForm::f32),
           tensor("clicks.query", {3}, device::NumberForm::i8)}};
}

device::PackUserModel catalogue_model() {
  return {
      "catalogue",
      0,
      0,
      5,
      {tensor("scale", {1, 2}, device::NumberForm::f32), tensor("average", {1, 2}, device::NumberForm::f16),
       tensor("query", {2}, device::NumberForm::f32), tensor("doubt", {1, 1}, device::NumberForm::f32)}};
}

std::string make_pack(device::PackUserModel user_model, std::size_t items) {
  device::DevicePack pack;
  pack.dimension = 2;
  pack.user_model = std::move(user_model);
  pack.basis = tensor("basis", {2, 2}, device::NumberForm::f32);
  pack.prototypes = tensor("prototypes", {3, 2}, device::NumberForm::f16);
  pack.average_user = {1, 2};
  pack.anonymous = {0, 0};
  pack.categories = {"a", "b"};
  std::vector<device::PackItem> pool;
  for (std::size_t i = 0; i < items; ++i) {
    pool.push_back(
        {"N" + std::to_string(i), {1.0F, static_cast<float>(i)}, 100 + i, static_cast<std::uint16_t>(i % 2)});
  }
  pack.items = *device::make_items(std::move(pool), 2);
  pack.model = *device::model_name(pack);
  return *device::encode_pack(pack);
}

// Real bytes with some replaced.
std::string damaged(std::string bytes, const std::uint8_t* data, std::size_t size) {
  for (; size >= 3; data += 3, size -= 3) {
    bytes[(data[0] + 256U * data[1]) % bytes.size()] = static_cast<char>(data[2]);
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string pack = make_pack(pooled_model(), 4), other = make_pack(catalogue_model(), 4);
  static const std::string delta = *device::encode_delta(pack, make_pack(pooled_model(), 7));
  if (size == 0) return 0;
  const std::uint8_t choice = data[0];
  const std::string raw(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (choice & 3U) {
    case 0: {
      const std::string& real = (choice & 0x40U) != 0 ? other : pack;
      const auto read = device::decode_pack((choice & 0x80U) != 0 ? damaged(real, data + 1, size - 1) : raw);
      // What is accepted keeps every promise and has one encoding that reads back the same.
      if (read && *device::decode_pack(*device::encode_pack(*read)) != *read) std::abort();
      break;
    }
    case 1: {
      const auto later =
          device::apply_delta(pack, (choice & 0x80U) != 0 ? damaged(delta, data + 1, size - 1) : raw);
      if (later && !device::decode_pack(*later)) std::abort();
      break;
    }
    default:
      if (const auto clicks = device::decode_history(raw); clicks && encode(*clicks) != raw) std::abort();
  }
  return 0;
}
