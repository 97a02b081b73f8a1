#pragma once
// Between the parts of a pack and their FlatBuffers tables. Private to wire/.

#include <bit>
#include <cstring>
#include <type_traits>

#include "device/pack/device_pack.h"
#include "proto/serving_generated.h"

namespace sotto::pack_tables {

constexpr std::uint32_t kFormat = 1;
constexpr const char* kIdentifier = "SOSV";  // file_identifier of proto/serving.fbs

flatbuffers::Offset<wire::Tensor> write(flatbuffers::FlatBufferBuilder& builder, const PackTensor& tensor);
flatbuffers::Offset<wire::ItemTable> write(flatbuffers::FlatBufferBuilder& builder, const PackItems& items);
flatbuffers::Offset<wire::UserModel> write(flatbuffers::FlatBufferBuilder& builder,
                                           const PackUserModel& model);

// Tables that the FlatBuffers verifier has accepted. Sizes are checked before copying, contents are not.
Result<PackTensor> read(const wire::Tensor& table);
Result<PackItems> read(const wire::ItemTable& table);
Result<PackUserModel> read(const wire::UserModel& table);
std::vector<std::string> read(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>& strings);

// Copied as bytes: the verifier does not hold vectors of 8-byte numbers to their alignment.
template <class T>
std::vector<T> read(const flatbuffers::Vector<T>& numbers) {
  static_assert(std::is_arithmetic_v<T> && std::endian::native == std::endian::little);
  std::vector<T> copied(numbers.size());
  if (!copied.empty()) std::memcpy(copied.data(), numbers.Data(), copied.size() * sizeof(T));
  return copied;
}

}  // namespace sotto::pack_tables
