#pragma once
// The safetensors container: 8 bytes of little-endian header length, a JSON header that names tensors with
// type, shape and place, then their bytes. Strict, since such files come from anywhere: every byte behind the
// header belongs to exactly one tensor, and everything is checked before anything is handed out.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace sotto::text {

enum class TensorType : std::uint8_t { f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, boolean };
std::string_view name_of(TensorType type);  // as written in headers: "F32", "BF16", "BOOL"
std::size_t bytes_of(TensorType type);      // of one element

// A tensor in a file: bytes.size() is the product of the shape times the size of an element. The bytes are
// little-endian, row-major and not necessarily aligned: copy them out.
struct TensorView {
  TensorType type = TensorType::f32;
  std::vector<std::uint64_t> shape;
  std::span<const std::byte> bytes;
};

// "[3, 4]" for messages.
std::string shape_text(std::span<const std::uint64_t> shape);

using TensorViews = std::map<std::string, TensorView, std::less<>>;

// Reads a container in memory; the views point into `bytes`.
Result<TensorViews> parse_safetensors(std::span<const std::byte> bytes);

// Owns the map of a file; the views live as long as it (moving included). Immutable: safe to share between
// threads.
class SafetensorsFile {
 public:
  static Result<SafetensorsFile> open(const fs::path& path);
  const TensorViews& tensors() const { return tensors_; }
  const TensorView* find(std::string_view name) const;  // nullptr when there is none

 private:
  SafetensorsFile(MappedFile file, TensorViews tensors)
      : file_(std::move(file)), tensors_(std::move(tensors)) {}
  MappedFile file_;
  TensorViews tensors_;
};

// The bytes of a container: tensors back to back in the order of their names, texts under "__metadata__".
// parse_safetensors() reads it back. Refuses a tensor whose bytes do not fill its shape.
Result<std::string> safetensors_bytes(const TensorViews& tensors,
                                      const std::map<std::string, std::string>& metadata);

// The JSON header of a safetensors container, as written: places are not checked against the data here.
struct TensorEntry {
  TensorType type = TensorType::f32;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;  // behind the header
};

// Refuses anything that is not {"name": {"dtype": text, "shape": [numbers], "data_offsets": [number,
// number]},
// ..., "__metadata__": {texts}}, repeated names and keys included. Memory stays proportional to `json`,
// however it is nested.
Result<std::map<std::string, TensorEntry, std::less<>>> parse_safetensors_header(std::string_view json);

}  // namespace sotto::text
