#pragma once
// The one hot loop of blind serving: a piece of the packed database times a piece of a ciphertext.
//
// 64 rows of 8 columns are 256 bytes, a row's 4 bytes side by side: byte i holds column i in its low and
// column 4 + i in its high half, each as the entry plus 8. A word of a ciphertext is cut into four signed
// digits of a byte, lowest first; those of 8 columns are 32 bytes: the lowest digits of columns 0 to 3, the
// second ones, ..., then those of columns 4 to 7. So a row's four products are summed by one instruction, no
// row is mixed with another, and a digit is loaded once for 64 rows. Digits are shifted to their places at
// the end; what overflows 32 bits belongs to no place.

#include <cstddef>
#include <cstdint>

namespace sotto::serving {

constexpr std::size_t group_rows = 64;
constexpr std::size_t group_columns = 8;
constexpr std::size_t group_bytes = group_rows * group_columns / 2;
constexpr std::size_t group_digits = 4 * group_columns;  // bytes of a ciphertext

enum class ProductKernel { plain, avx2, avx512 };
bool supported(ProductKernel kernel);
ProductKernel fastest_product_kernel();

// out[r] += Σ over the columns of (entry + 8) · word, for the 64 rows of `groups` groups of columns.
void multiply_groups(ProductKernel kernel, const std::uint8_t* packed, std::size_t groups,
                     const std::int8_t* digits, std::uint32_t* out);

}  // namespace sotto::serving
