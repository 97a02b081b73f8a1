#include "device/wire/pack_codec.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "base/chain_hash.h"
#include "device/wire/pack_tables.h"

namespace sotto::device {

namespace {

// Left out where there is no blind serving and no language: such a pack has the bytes it had before.
struct OptionalFields {
  flatbuffers::Offset<flatbuffers::String> guide = 0;
  flatbuffers::Offset<flatbuffers::Vector<std::uint32_t>> gone = 0;
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> languages = 0;
};
OptionalFields write_optional(flatbuffers::FlatBufferBuilder& builder, const DevicePack& pack) {
  OptionalFields fields;
  if (!pack.blind_guide.empty()) fields.guide = builder.CreateString(pack.blind_guide);
  if (!pack.blind_gone.empty()) fields.gone = builder.CreateVector(pack.blind_gone);
  if (!pack.languages.empty()) fields.languages = builder.CreateVectorOfStrings(pack.languages);
  return fields;
}

// Of a pack or of a delta.
template <class Table>
void read_optional(const Table& table, DevicePack& pack) {
  pack.blind_guide = table.blind_guide() == nullptr ? std::string() : table.blind_guide()->str();
  pack.blind_gone.clear();
  if (table.blind_gone() != nullptr) pack.blind_gone = pack_tables::read(*table.blind_gone());
  pack.languages.clear();
  if (table.languages() != nullptr) pack.languages = pack_tables::read(*table.languages());
}

}  // namespace

Result<std::string> encode_pack(const DevicePack& pack) {
  SOTTO_CHECK(check(pack));
  flatbuffers::FlatBufferBuilder builder(pack.items.vectors.data.size() + (1U << 16U));
  const auto model = builder.CreateString(pack.model);
  const auto user_model = pack_tables::write(builder, pack.user_model);
  const auto basis = pack_tables::write(builder, pack.basis);
  const auto prototypes = pack_tables::write(builder, pack.prototypes);
  const auto average = builder.CreateVector(pack.average_user);
  const auto anonymous = builder.CreateVector(pack.anonymous);
  const auto categories = builder.CreateVectorOfStrings(pack.categories);
  const auto items = pack_tables::write(builder, pack.items);
  const OptionalFields more = write_optional(builder, pack);
  builder.Finish(wire::CreateServingPack(builder, pack_tables::pack_format, model, pack.dimension, user_model,
                                         basis, prototypes, average, anonymous, categories, items, more.guide,
                                         more.gone, more.languages),
                 pack_tables::pack_identifier);
  if (builder.GetSize() > max_pack_bytes) {
    return bad_input("the pack has {} bytes, at most {} are sent: publish fewer items", builder.GetSize(),
                     max_pack_bytes);
  }
  return std::string(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
}

Result<DevicePack> decode_pack(std::string_view bytes) {
  if (bytes.size() > max_pack_bytes) return bad_input("the pack has more than {} bytes", max_pack_bytes);
  const AlignedBytes aligned(bytes);
  flatbuffers::Verifier verifier(aligned.data(), aligned.size());
  if (!verifier.VerifyBuffer<wire::ServingPack>(pack_tables::pack_identifier)) {
    return bad_input("these bytes are not a pack, or are damaged: fetch it again");
  }
  const auto& table = *flatbuffers::GetRoot<wire::ServingPack>(aligned.data());
  if (table.format() != pack_tables::pack_format) {
    return bad_input("the pack has format {}, this device reads {}: update the device", table.format(),
                     pack_tables::pack_format);
  }
  DevicePack pack;
  pack.model = table.model()->str();
  pack.dimension = table.dimension();
  SOTTO_TRY(pack.user_model, pack_tables::read(*table.user_model()));
  SOTTO_TRY(pack.basis, pack_tables::read(*table.basis()));
  SOTTO_TRY(pack.prototypes, pack_tables::read(*table.prototypes()));
  pack.average_user = pack_tables::read(*table.average_user());
  pack.anonymous = pack_tables::read(*table.anonymous());
  pack.categories = pack_tables::read(*table.categories());
  SOTTO_TRY(pack.items, pack_tables::read(*table.items()));
  read_optional(table, pack);
  SOTTO_CHECK(check(pack));
  return pack;
}

Result<std::string> pack_version(std::string_view bytes) {
  SOTTO_TRY(const ChainHash hash, chain_hash({"sotto pack", bytes}));
  return to_hex(hash);
}

namespace {

bool same_item(const PackItems& a, std::size_t i, const PackItems& b, std::size_t j) {
  const std::size_t width = a.vectors.columns();
  const auto row_of = [&](const PackItems& items, std::size_t row) {
    return std::span(items.vectors.data).subspan(row * width, width);
  };
  return a.ids[i] == b.ids[j] && a.published[i] == b.published[j] && a.categories[i] == b.categories[j] &&
         a.languages[i] == b.languages[j] && a.vectors.scales[i] == b.vectors.scales[j] &&
         std::ranges::equal(row_of(a, i), row_of(b, j));
}

void append_item(PackItems& to, const PackItems& from, std::size_t row) {
  const std::size_t width = from.vectors.columns();
  const auto* numbers = from.vectors.data.data() + row * width;
  to.ids.push_back(from.ids[row]);
  to.published.push_back(from.published[row]);
  to.categories.push_back(from.categories[row]);
  to.languages.push_back(from.languages[row]);
  to.vectors.data.insert(to.vectors.data.end(), numbers, numbers + width);
  to.vectors.scales.push_back(from.vectors.scales[row]);
  to.vectors.shape[0] += 1;
}

PackItems no_items(std::uint32_t dimension) {
  PackItems items;
  items.vectors = {"items", {0, dimension}, NumberForm::i8, {}, {}};
  return items;
}

bool begins_with(const std::vector<std::string>& all, const std::vector<std::string>& first) {
  return first.size() <= all.size() && std::equal(first.begin(), first.end(), all.begin());
}

// Everything but items, categories and languages.
bool same_model(const DevicePack& a, const DevicePack& b) {
  return a.model == b.model && a.dimension == b.dimension && a.user_model == b.user_model &&
         a.basis == b.basis && a.prototypes == b.prototypes && a.average_user == b.average_user &&
         a.anonymous == b.anonymous;
}

// Both are in the pool's order.
PackItems merge(const PackItems& old, const std::vector<std::uint32_t>& removed, const PackItems& added,
                std::uint32_t dimension) {
  PackItems merged = no_items(dimension);
  std::size_t next_removed = 0;
  std::size_t next_added = 0;
  const auto add_before = [&](std::size_t i) {
    while (next_added < added.size() &&
           (i == old.size() || std::tie(added.published[next_added], added.ids[next_added]) <
                                   std::tie(old.published[i], old.ids[i]))) {
      append_item(merged, added, next_added++);
    }
  };
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (next_removed < removed.size() && removed[next_removed] == i) {
      ++next_removed;
      continue;
    }
    add_before(i);
    append_item(merged, old, i);
  }
  add_before(old.size());
  return merged;
}

}  // namespace

Result<std::string> encode_delta(std::string_view old_bytes, std::string_view new_bytes) {
  SOTTO_TRY(const DevicePack old, decode_pack(old_bytes));
  SOTTO_TRY(const DevicePack later, decode_pack(new_bytes));
  if (!same_model(old, later) || !begins_with(later.categories, old.categories) ||
      !begins_with(later.languages, old.languages)) {
    return bad_input("the packs differ in more than their items: send the whole pack");
  }
  SOTTO_TRY(const std::string from, pack_version(old_bytes));
  SOTTO_TRY(const std::string to, pack_version(new_bytes));
  std::unordered_map<std::string_view, std::size_t> before;
  for (std::size_t i = 0; i < old.items.size(); ++i) before.emplace(old.items.ids[i], i);
  std::vector<bool> kept(old.items.size(), false);
  PackItems added = no_items(old.dimension);
  for (std::size_t j = 0; j < later.items.size(); ++j) {
    const auto found = before.find(later.items.ids[j]);
    if (found != before.end() && same_item(old.items, found->second, later.items, j)) {
      kept[found->second] = true;
    } else {
      append_item(added, later.items, j);
    }
  }
  std::vector<std::uint32_t> removed;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) removed.push_back(static_cast<std::uint32_t>(i));
  }
  flatbuffers::FlatBufferBuilder builder(added.vectors.data.size() + (1U << 12U));
  const auto from_text = builder.CreateString(from);
  const auto to_text = builder.CreateString(to);
  const auto removed_rows = builder.CreateVector(removed);
  const auto added_items = pack_tables::write(builder, added);
  const auto categories = builder.CreateVectorOfStrings(later.categories);
  const OptionalFields more = write_optional(builder, later);
  builder.Finish(wire::CreatePackDelta(builder, pack_tables::pack_format, from_text, to_text, removed_rows,
                                       added_items, categories, more.guide, more.gone, more.languages),
                 pack_tables::pack_identifier);
  return std::string(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
}

Result<std::string> apply_delta(std::string_view old_bytes, std::string_view delta) {
  if (delta.size() > max_pack_bytes) return bad_input("the delta has more than {} bytes", max_pack_bytes);
  const AlignedBytes aligned(delta);
  flatbuffers::Verifier verifier(aligned.data(), aligned.size());
  if (!verifier.VerifyBuffer<wire::PackDelta>(pack_tables::pack_identifier)) {
    return bad_input("these bytes are not a pack delta, or are damaged: fetch the whole pack");
  }
  const auto& table = *flatbuffers::GetRoot<wire::PackDelta>(aligned.data());
  SOTTO_TRY(const std::string version, pack_version(old_bytes));
  if (table.format() != pack_tables::pack_format || table.from()->str() != version) {
    return bad_input("the delta is not for the pack that is installed: fetch the whole pack");
  }
  SOTTO_TRY(DevicePack pack, decode_pack(old_bytes));
  const std::vector<std::uint32_t> removed = pack_tables::read(*table.removed());
  for (std::size_t i = 0; i < removed.size(); ++i) {
    if (removed[i] >= pack.items.size() || (i > 0 && removed[i - 1] >= removed[i])) {
      return bad_input("the delta removes items that are not there: fetch the whole pack");
    }
  }
  SOTTO_TRY(const PackItems added, pack_tables::read(*table.added()));
  pack.categories = pack_tables::read(*table.categories());
  read_optional(table, pack);
  SOTTO_CHECK(check(added, pack.dimension, pack.categories.size(), pack.languages.size()));
  pack.items = merge(pack.items, removed, added, pack.dimension);
  SOTTO_TRY(std::string bytes, encode_pack(pack));
  SOTTO_TRY(const std::string arrived, pack_version(bytes));
  if (arrived != table.to()->str())
    return bad_input("the delta does not lead to the pack it names: fetch the whole pack");
  return bytes;
}

}  // namespace sotto::device
