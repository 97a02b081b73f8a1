#pragma once
// The public matrix of encryption, d·C rows of 1024 numbers, as one polynomial per 1024 rows: row j of a
// block is X^-j times its polynomial, so that the block times a vector is a product in the ring.
//
// Nobody chooses it: it is the ChaCha20 stream of a hash of the shape. A block is 4 KB of stream where a
// matrix without structure would take 4 MB.

#include <vector>

#include "blind/ring.h"

namespace sotto::blind {

// One polynomial per 1024 columns, the last one for what is left.
Result<std::vector<RingWords>> public_matrix(const Shape& shape);

}  // namespace sotto::blind
