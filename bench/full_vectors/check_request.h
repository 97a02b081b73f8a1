#pragma once
// What all searches over full vectors refuse.

#include "serving/index/item_index.h"

namespace sotto::bench {

Status check_dimension(std::size_t dimension);
Status check_graph(int links, int effort);
Status check_rows(const serving::RowBatch& rows, std::size_t dimension);
Status check_request(std::span<const float> queries, std::size_t dimension, std::uint32_t k,
                     const serving::ItemFilter& filter);

}  // namespace sotto::bench
