#pragma once
// What a trained run may say about privacy, on one page: for people as text, for programs as JSON. A plain
// value.

#include <optional>
#include <string>
#include <vector>

#include "privacy/accounting/event.h"

namespace sotto {

struct PrivacyDatasheet {
  std::string recipe;
  std::string mode;         // "paper" or "sound"
  std::string mechanism;    // in words
  std::string sampling;     // how a cohort is drawn
  std::string composition;  // how often one unit is exposed, and by which method that was added up
  Unit unit = Unit::user;
  Adjacency adjacency = Adjacency::replace_one;
  double delta = 0;
  // Nothing: no differential privacy holds against this adversary.
  std::optional<double> epsilon_server, epsilon_published;
  std::optional<double> epsilon_claimed;  // what the paper prints for these settings
  // One answer to the server when recommending, for the whole history; nothing: it is not part of this page.
  std::optional<double> epsilon_query;
  std::vector<std::string> server_sees, not_protected;
};

std::string to_text(const PrivacyDatasheet& sheet);
std::string to_json(const PrivacyDatasheet& sheet);  // one line

}  // namespace sotto
