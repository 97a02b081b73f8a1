#include "device/wire/pack_codec.h"

#include "base/chain_hash.h"
#include "device/wire/aligned_bytes.h"
#include "device/wire/pack_tables.h"

namespace sotto {

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
  builder.Finish(wire::CreateServingPack(builder, pack_tables::kFormat, model, pack.dimension, user_model,
                                         basis, prototypes, average, anonymous, categories, items),
                 pack_tables::kIdentifier);
  if (builder.GetSize() > kMaxPackBytes) {
    return bad_input("the pack has {} bytes, at most {} are sent: publish fewer items", builder.GetSize(),
                     kMaxPackBytes);
  }
  return std::string(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
}

Result<DevicePack> decode_pack(std::string_view bytes) {
  if (bytes.size() > kMaxPackBytes) return bad_input("the pack has more than {} bytes", kMaxPackBytes);
  const AlignedBytes aligned(bytes);
  flatbuffers::Verifier verifier(aligned.data(), aligned.size());
  if (!verifier.VerifyBuffer<wire::ServingPack>(pack_tables::kIdentifier)) {
    return bad_input("these bytes are not a pack, or are damaged: fetch it again");
  }
  const auto& table = *flatbuffers::GetRoot<wire::ServingPack>(aligned.data());
  if (table.format() != pack_tables::kFormat) {
    return bad_input("the pack has format {}, this device reads {}: update the device", table.format(),
                     pack_tables::kFormat);
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
  SOTTO_CHECK(check(pack));
  return pack;
}

Result<std::string> pack_version(std::string_view bytes) {
  SOTTO_TRY(const ChainHash hash, chain_hash({"sotto pack", bytes}));
  return to_hex(hash);
}

}  // namespace sotto
