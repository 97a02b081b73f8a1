#pragma once
// The public pack: everything a device needs to turn its clicks into a user vector, ask a private question
// and rank the live pool by itself. It is the same for everybody, so downloading it tells nothing.
//
// A plain value. Packs from outside come through wire/pack_codec.h, which checks everything; make_pack() does
// the same for a server that builds one. Numbers stay in the form they have on the wire.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/model/user_model.h"
#include "device/pack/tensor.h"

namespace sotto::device {

inline constexpr std::uint16_t no_category = 0xffff;
inline constexpr std::uint16_t no_language = 0xffff;

struct PackUserModel {
  std::string kind;  // one of user_model_kinds
  std::uint32_t heads = 0;
  std::uint32_t recent_clicks = 0;
  std::uint32_t max_history = 0;  // clicks it reads, the newest ones
  std::vector<PackTensor> weights;
  bool operator==(const PackUserModel&) const = default;
};

// The live pool, ascending by (published, id), ids unique.
struct PackItems {
  std::vector<std::string> ids;
  PackTensor vectors;                     // i8 [items, dimension]
  std::vector<std::uint64_t> published;   // seconds since 1970
  std::vector<std::uint16_t> categories;  // position in DevicePack::categories, or no_category
  std::vector<std::uint16_t> languages;   // position in DevicePack::languages, or no_language
  std::size_t size() const { return ids.size(); }
  bool operator==(const PackItems&) const = default;
};

struct DevicePack {
  // Its version: model_name() of the rest. A name that a server could choose would tell devices apart when
  // they ask with it.
  std::string model;
  std::uint32_t dimension = 0;
  PackUserModel user_model;
  PackTensor basis;       // [B, dimension]
  PackTensor prototypes;  // [K, dimension]
  std::vector<float> average_user;
  std::vector<float> anonymous;  // what padding puts in a click's place
  std::vector<std::string> categories;
  std::vector<std::string> languages;
  // With blind serving: those that the guide does not have yet.
  PackItems items;
  // Blind serving: the hash of the guide that belongs to this pack (64 hexadecimal digits; empty: there is
  // none), and which of its items are gone, counted in its ids, ascending.
  std::string blind_guide;
  std::vector<std::uint32_t> blind_gone;
  bool operator==(const DevicePack&) const = default;
};

// A pack never exceeds these; readers refuse before they allocate.
struct PackLimits {
  static constexpr std::size_t items = 4'000'000;
  static constexpr std::size_t dimension = 4096;
  static constexpr std::size_t basis = 1024;
  static constexpr std::size_t prototypes = 65'536;
  static constexpr std::size_t history = 10'000;
  static constexpr std::size_t name_bytes = 128;  // versions and item ids
  static constexpr std::size_t tensors = 64;
  static constexpr std::size_t languages = 1024;
};

// The hash of everything but items, categories and languages, 64 hexadecimal digits.
Result<std::string> model_name(const DevicePack& pack);

// Every promise above: sizes, order, uniqueness, finite numbers, known categories, the name.
Status check(const DevicePack& pack);
Status check(const PackItems& items, std::uint32_t dimension, std::size_t categories, std::size_t languages);

// One item as a server has it.
struct PackItem {
  std::string id;
  std::vector<float> vector;
  std::uint64_t published = 0;
  std::uint16_t category = no_category;
  std::uint16_t language = no_language;
};
// Sorts and quantises.
Result<PackItems> make_items(std::vector<PackItem> items, std::uint32_t dimension);

// The user model with its weights as floats.
Result<UserModel> make_user_model(const DevicePack& pack);

}  // namespace sotto::device
