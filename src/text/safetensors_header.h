#pragma once
// The JSON header of a safetensors container, as written: places are not checked against the data here.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/safetensors.h"

namespace sotto {

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

}  // namespace sotto
