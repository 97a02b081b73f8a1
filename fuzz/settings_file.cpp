// Any bytes as a settings file and as key=value: an error that names what is wrong and changes nothing, or
// values within their ranges that are read back the same.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/settings.h"
#include "memory_file.h"

namespace {

using namespace sotto;

struct Every {
  std::int64_t whole = 3;
  double real = 0.5;
  bool yes = false;
  std::string text = "text", choice = "one";
  void bind(SettingsTable& table) {
    table.add("whole", whole, {-5, 1000}, "A whole number")
        .add("real", real, {0, 2.5}, "A number")
        .add("yes", yes, "A switch")
        .add("text", text, "A text")
        .add_choice("choice", choice, {"one", "two"}, "A choice");
  }
  bool operator==(const Every&) const = default;
};

void check(const Every& values, const SettingsTable& table) {
  if (values.whole < -5 || values.whole > 1000 || !(values.real >= 0 && values.real <= 2.5) ||
      (values.choice != "one" && values.choice != "two"))
    std::abort();
  const std::string written = table.to_toml();
  const MemoryFile again(written.data(), written.size());
  Every second;
  SettingsTable second_table;
  second.bind(second_table);
  if (!second_table.load_toml(again.path()) || second != values) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(data, size);
  Every values;
  SettingsTable table;
  values.bind(table);
  if (const auto loaded = table.load_toml(file.path()); !loaded) {
    if (values != Every{} || loaded.error().message.empty()) std::abort();
  } else {
    check(values, table);
  }
  const Every before = values;
  const std::string_view assignment(reinterpret_cast<const char*>(data), size);
  if (!table.set_assignment(assignment)) {
    if (values != before) std::abort();
  } else {
    check(values, table);
  }
  static_cast<void>(toml_string(file.path(), "text"));
  return 0;
}
