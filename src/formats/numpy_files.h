#pragma once
// NumPy's own files: .npy, one array behind a short header (format 1.0), and .npz, a zip archive of such
// files, stored without compression. Pure functions.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/named_array.h"

namespace sotto::formats {

std::string npy_bytes(const NamedArray& array);
// NAME.npy for every array. Refuses names that would leave the archive or come twice, and more than 4 GB,
// which plain zip archives cannot hold.
Result<std::string> npz_bytes(std::span<const NamedArray> arrays);

// CRC-32 of zip and gzip.
std::uint32_t zip_checksum(std::string_view bytes);

}  // namespace sotto::formats
