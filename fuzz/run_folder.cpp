// The folder of a run, and of the items that are served with it, as they may have been changed by hand: the
// privacy report, what a server says about the run, what was charged for demand, whose items these are.
// An input is the texts of run.json, privacy.json, result.json, demand-charges.jsonl and items.json, with a
// zero byte behind each.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "cli/pool_items.h"
#include "cli/privacy_page.h"
#include "privacy/accounting/datasheet.h"
#include "serving/run_privacy.h"

namespace {

using namespace sotto;

const fs::path& folder() {
  static const fs::path made = [] {
    std::string name = (fs::temp_directory_path() / "sotto-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    for (const char* file : {"settings.toml", "best.sotto", "catalogue-1.log"})
      std::ofstream(fs::path(name) / file);
    return fs::path(name);
  }();
  return made;
}

// A page of a run with sums under noise accounts its plan, which takes seconds: here only those without.
bool is_quick(std::string_view datasheet) {
  const auto sheet = privacy::datasheet_from_json(datasheet);
  return !sheet || sheet->sums.empty();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  constexpr std::array names = {"run.json", "privacy.json", "result.json", serving::demand_charges_file,
                                "items.json"};
  for (const std::string_view name : names) {
    const std::string_view text = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    if (name == "privacy.json" && !is_quick(text)) return -1;
    std::ofstream(folder() / name, std::ios::binary | std::ios::trunc) << text;
  }
  if (const auto page = cli::page_of_run(folder(), {}); page && page->html.empty()) std::abort();
  if (const auto charges = serving::demand_charges(folder()); charges && !(charges->epsilon >= 0))
    std::abort();
  if (const auto privacy = serving::privacy_of_run(folder()); privacy && privacy->text.empty()) std::abort();
  if (auto items = cli::PoolItems::open(folder(), false))
    static_cast<void>(items->accept({"newsroom", "0123456789abcdef", {}}));
  return 0;
}
