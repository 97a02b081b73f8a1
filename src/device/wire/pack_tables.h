#pragma once
// Between the parts of a pack and their FlatBuffers tables. Private to wire/.

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>

#include "device/pack/device_pack.h"
#include "proto/serving_generated.h"

namespace sotto::device {

// Bytes from outside where FlatBuffers can read them: its scalars must lie aligned, which a view into some
// message need not be. Copies only when it has to. The view must outlive it.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::string_view bytes)
      : data_(reinterpret_cast<const std::uint8_t*>(bytes.data())), size_(bytes.size()) {
    if (reinterpret_cast<std::uintptr_t>(data_) % alignof(std::uint64_t) == 0) return;
    copy_ = std::make_unique<std::uint64_t[]>(size_ / sizeof(std::uint64_t) + 1);
    std::memcpy(copy_.get(), bytes.data(), size_);
    data_ = reinterpret_cast<const std::uint8_t*>(copy_.get());
  }
  const std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::unique_ptr<std::uint64_t[]> copy_;
};

}  // namespace sotto::device

namespace sotto::device::pack_tables {

constexpr std::uint32_t pack_format = 1;
constexpr const char* pack_identifier = "SOSV";  // file_identifier of proto/serving.fbs

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

}  // namespace sotto::device::pack_tables
