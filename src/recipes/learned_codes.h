#pragma once
// Rows that a model learns for categories, entities and users are numbered by the data it trains on. A
// fingerprint of that numbering stays with the run, so that other data cannot be read with the wrong rows.

#include "model/news/model_registry.h"

namespace sotto {

// Writes RUN/codes.txt, or compares with the one there. Models that read words, or
// entities with the data's own vectors, have no such rows.
Status check_learned_codes(const fs::path& run, const Dataset& dataset, const ModelEntry& entry,
                           const KnownUsers& known);

}  // namespace sotto
