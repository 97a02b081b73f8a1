#pragma once
// What devices fetch, small: of whole numbers alone, as the first form of blobs had it, and of everything
// that there is.

#include "rounds/model_version.h"
#include "rounds/small_campaign.h"

namespace sotto::rounds {

inline ModelVersion plain_version() { return {"a:2 b:1 ", one_row({1, -2, 0.5F}), {}, {}}; }

inline ItemTable plain_table() {
  ItemTable table;
  table.ids = {"N1", "N2"};
  table.vectors = {2, {1, 2, 3, 4}, {}, {}};
  return table;
}

inline ModelVersion full_version() {
  // The scales are 1/4 and 2^-24, the smallest that there is.
  const NumberRows vectors{2, {}, {0x3400, 1}, {4, -127, 16, 0}};
  return {"a:2 b:1 ", one_row({1.5F, -2, 0}), vectors, model_hash()};
}

inline ItemTable full_table() {
  ItemTable table;
  table.ids = {"n2", "n1"};
  table.vectors = {3, {1, 2, 3, 4, 5, 6}, {}, {}};
  table.words = {1, {0.5F, 0.25F, 0}, {}, {}};
  table.titles = {{{0, 2, 3}, {1, 2, 0}}};
  table.fields = {{{0, 1, 1}, {7}}, {{0, 0, 2}, {1, 2}}};
  table.reader_fields = {{"age", {"young", "old", std::string(other_value)}}};
  table.situation_fields = {{"weather", {"rain"}}, {"day", {"monday", "sunday"}}};
  return table;
}

}  // namespace sotto::rounds
