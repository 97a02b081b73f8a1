// Any bytes as the rows that an interrupted experiment left: those before the first damaged line are taken
// up, and can be gone on with.

#include "eval/experiments/finished_rows.h"

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using namespace sotto;

// A file of a folder of its own, which goes with the process.
class Workplace {
 public:
  Workplace() {
    std::string name = (fs::temp_directory_path() / "sotto-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) abort();
    path_ = name;
  }
  ~Workplace() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  fs::path file() const { return path_ / "rows.jsonl"; }

 private:
  fs::path path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Workplace workplace;
  const nlohmann::json fingerprint = "made for this";
  // Behind the right first line, which chance would not find, unless the input begins with a zero byte.
  std::string text(reinterpret_cast<const char*>(data), size);
  if (size == 0 || data[0] != 0) text = nlohmann::json{{"made_with", fingerprint}}.dump() + "\n" + text;
  std::ofstream(workplace.file(), std::ios::binary | std::ios::trunc) << text;
  auto finished = eval::FinishedRows::open(workplace.file(), fingerprint);
  if (!finished) return 0;
  const auto keys = finished->keys();
  for (const std::string& key : keys)
    if (!finished->find(key)) abort();
  if (!finished->add("one more", {{"auc", 0.5}})) abort();
  const auto again = eval::FinishedRows::open(workplace.file(), fingerprint);
  if (!again || !again->find("one more") || again->keys().size() < keys.size()) abort();
  return 0;
}
