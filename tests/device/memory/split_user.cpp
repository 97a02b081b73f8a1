// A device's part of a round of the split user model, at the sizes of the papers: 1,000 articles of 400
// numbers, 40 pages of 20 articles after 50 clicks each. Prints how much memory the process held at most, and
// fails beyond 64 MB.

#include <cstdio>
#include <fstream>
#include <string>

#include "device/rounds/round_inputs.h"

using namespace sotto;

namespace {

constexpr std::size_t articles = 1000, pages = 40, shown_each = 20, clicks_before = 50;
constexpr std::uint32_t numbers = 400;
constexpr long most_kilobytes = 64 * 1024;

long most_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
  return -1;
}

Status train() {
  SeededRandom random(1, Purpose::test);
  const auto number = [&] { return static_cast<float>(random() >> 40) * 0x1p-24F - 0.5F; };
  SOTTO_TRY(const auto trainer, local::find_trainer("efficient-fedrec", {}));
  rounds::ModelVersion version;
  version.layout = trainer->layout().text();
  version.numbers = rounds::one_row(std::vector<float>(trainer->layout().size()));
  for (float& one : version.numbers.numbers) one = 0.1F * number();
  version.items = {numbers, std::vector<float>(articles * numbers), {}, {}};
  for (float& one : version.items.numbers) one = number();
  rounds::ItemTable table;
  for (std::size_t i = 0; i < articles; ++i) table.ids.push_back(fmt::format("N{:06}", i));
  // As they are fetched: bytes that are read once.
  SOTTO_TRY(const std::string model_bytes, encode(version));
  SOTTO_TRY(const std::string item_bytes, encode(table));
  SOTTO_TRY(version, rounds::decode_model(model_bytes));
  SOTTO_TRY(table, rounds::decode_items(item_bytes));

  std::vector<device::StoredImpression> read(pages);
  for (device::StoredImpression& page : read) {
    for (std::size_t i = 0; i < clicks_before; ++i) page.history.push_back(table.ids[random() % articles]);
    for (std::size_t i = 0; i < shown_each; ++i) {
      page.shown.push_back(table.ids[random() % articles]);
      page.clicked.push_back(i == 0 ? 1 : 0);
    }
  }
  SOTTO_TRY(const auto model, device::FetchedModel::create(version, std::move(table), *trainer, 1));
  const device::EventsOfReader own(*model, trainer->reads(), read, {});
  SOTTO_TRY(const auto update, trainer->train(model->inputs(), own.events(), random, [] { return false; }));
  const long kilobytes = most_memory();
  std::printf("%zu numbers trained on %llu examples, %ld kB resident at most\n", update.direction.size(),
              static_cast<unsigned long long>(update.samples), kilobytes);
  if (kilobytes > most_kilobytes) return failed("more than {} kB", most_kilobytes);
  return {};
}

}  // namespace

int main() {
  const Status trained = train();
  if (!trained) std::fprintf(stderr, "%s\n", trained.error().message.c_str());
  return trained ? 0 : 1;
}
