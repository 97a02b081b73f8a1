#pragma once
// How a device asks: which mechanism, how much it may tell, how often. What a person or the product decided,
// never what the history says: noise, charge and timing depend on these values alone.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "privacy/ledger/answer_cache.h"
#include "privacy/serving/serving_mechanism.h"

namespace sotto {
class SettingsTable;
}

namespace sotto::device {

struct QuerySettings {
  std::string mechanism = "prototypes";  // a name of serving_mechanisms()
  // everything: all clicks, protected by noise and charged. unprotected: clicks of categories that the person
  // called not sensitive, exactly and for nothing; no other click is looked at.
  std::string reads = "everything";
  double epsilon = 0;  // of one answer; no default
  double refresh_hours = 24;

  std::string rule = "response";  // prototypes: response or similarity
  std::string mode = "sound";     // coefficients: sound or paper
  std::string noise = "laplace";  // coefficients: laplace or gaussian
  double delta = 0;               // gaussian
  double clip = 1;                // θ: largest norm of the weights
  double padding = 0;             // p: chance that a click is replaced by the anonymous one

  std::int64_t wanted = 500;  // items asked for; ranked again on the device

  void bind(SettingsTable& table);
  bool reads_everything() const { return reads == "everything"; }
  privacy::MechanismSettings of_mechanism() const;
};

}  // namespace sotto::device
