#pragma once
// Rounds told in plain text: tests/secagg/scenarios/*.txt. The language is described in README.txt there.

#include <string>
#include <vector>

#include "secagg/protocol_harness.h"

namespace sotto::secagg::testing_round {

struct Scenario {
  ThreatModel threat{.clients = 0, .corrupted = 0, .dropping = 0, .server = ServerModel::semi_honest};
  VectorShape shape{24, 16};
  std::vector<std::vector<std::string>> events;        // words of each line
  std::vector<std::vector<std::string>> expectations;  // words after "expect"
};

Result<Scenario> read_scenario(const std::string& text);
// Every line that did not come true, in words.
std::vector<std::string> play(const Scenario& scenario);

}  // namespace sotto::secagg::testing_round
