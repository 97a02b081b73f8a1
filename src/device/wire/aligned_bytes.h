#pragma once
// Bytes from outside where FlatBuffers can read them: its scalars must lie aligned, which a view into some
// message need not be. Copies only when it has to. The view must outlive it.

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace sotto {

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

}  // namespace sotto
