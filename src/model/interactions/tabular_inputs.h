#pragma once
// What a model of tables may know about a user, a situation and an item, as codes: one list per categorical
// feature, as the catalogue or the user's own device states it. Which values there are, and whether they are
// too many, follows from the data set: private recipes hand in its public part (data/public_part.h), whose
// values were declared.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"

namespace sotto::model {

// One categorical feature of n rows; a row may have several values, or none.
struct TabularField {
  std::string name;
  std::int64_t values = 0;                   // codes are below this
  std::vector<std::uint64_t> offsets = {0};  // n + 1
  std::vector<std::uint32_t> codes;
  std::span<const std::uint32_t> of(std::size_t row) const {
    return {codes.data() + offsets[row], codes.data() + offsets[row + 1]};
  }
};

enum class InputChoice {
  paper,    // PrivRec's own: features of users (or of the situation) and of items, no ids
  leaking,  // the same and `cnt`, how often the user used that very item: the answer, as the paper feeds it
  ids,      // what the device remembers of its user and a vector per item, no features
  rich,     // ids, features of users and all that the catalogue says of an item
};
InputChoice input_choice(std::string_view name);  // "paper", "leaking", "ids", otherwise rich
inline constexpr bool reads_history(InputChoice choice) {
  return choice == InputChoice::ids || choice == InputChoice::rich;
}

// Immutable after building; views of the data set do not outlive the call.
struct TabularInputs {
  InputChoice choice = InputChoice::rich;
  std::int64_t items = 0;
  std::vector<TabularField> user;     // by user
  std::vector<TabularField> context;  // by row of the interactions
  std::vector<TabularField> item;     // by item
  // leaking: log(1 + cnt) of the items a user has used, by user
  std::vector<std::unordered_map<data::ItemId, float>> counts;

  std::size_t field_count() const { return user.size() + context.size() + item.size(); }
  std::int64_t values_of(std::size_t field) const;  // fields in the order above
};

// Refuses choices for which the data has nothing.
Result<TabularInputs> build_tabular_inputs(const data::Dataset& dataset, InputChoice choice);

}  // namespace sotto::model
