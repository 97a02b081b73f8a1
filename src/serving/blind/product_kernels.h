#pragma once
// The one hot loop of blind serving: a tile of the packed database times a tile of a ciphertext.
//
// 128 columns of a row are 64 bytes: byte i holds column i in its low and column 64 + i in its high half,
// each as the entry plus 8. A ciphertext is cut into bytes: 128 columns are four times 128 bytes, the lowest
// bytes of all words first. Products of bytes are summed by the instructions made for it, and shifted to
// their places at the end; what overflows 32 bits belongs to no place.

#include <cstddef>
#include <cstdint>

namespace sotto::serving {

constexpr std::size_t chunk_columns = 128;
constexpr std::size_t chunk_bytes = 64;        // of a row
constexpr std::size_t chunk_limb_bytes = 512;  // of a ciphertext
constexpr std::size_t rows_at_once = 4;

enum class ProductKernel { plain, avx2, avx512 };
bool supported(ProductKernel kernel);
ProductKernel fastest_product_kernel();

// out[r] += Σ over the columns of the tile of (entry + 8) · word, for `rows` rows (a multiple of
// rows_at_once) of `chunks` chunks, one row behind the other.
void multiply_tile(ProductKernel kernel, const std::uint8_t* packed, std::size_t rows, std::size_t chunks,
                   const std::uint8_t* limbs, std::uint32_t* out);

}  // namespace sotto::serving
