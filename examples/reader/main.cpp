// A reader's device: fetches the public pack, keeps clicks in its folder, asks privately, ranks the answer
// itself.

#include <cstdio>

#include "device/device.h"
#include "transport/http_transport.h"

using namespace sotto;

// clicks: ids of items that the reader has opened just now; null at the end.
static Result<device::Recommendations> read(const fs::path& folder, const std::string& url,
                                            const fs::path& authorities, char** clicks) {
  device::DeviceSettings settings;
  settings.query.epsilon = 3, settings.day_epsilon = 6;  // of one answer, of all answers of a day
  SOTTO_TRY(auto device, device::Device::open(folder, settings, {.first_use = !fs::exists(folder)}));
  // Here a person reads what would be told, and says yes; until then nothing is asked.
  if (!device.consent()) SOTTO_CHECK(device.agree(device.terms(url, "Your shop", {.asking = true})));
  SOTTO_TRY(auto server, transport::HttpTransport::create({.url = url, .authorities = authorities}));
  SOTTO_TRY(const bool fetched, device.refresh(server));
  while (*clicks != nullptr) SOTTO_CHECK(device.click(*clicks++));
  std::printf("%s pack, ", fetched ? "new" : "same");
  return device.recommend(server, 5);
}

int main(int count, char** words) {
  Result<device::Recommendations> page = bad_input("usage: reader FOLDER URL CERTIFICATE [CLICKED...]");
  if (count >= 4) page = read(words[1], words[2], words[3], words + 4);
  if (!page) {
    std::fprintf(stderr, "reader: %s\n", page.error().message.c_str());
    return 1;
  }
  std::printf("%s\n", std::string(name(page->source)).c_str());
  for (const auto& item : page->items) std::printf("%s %.3f\n", item.item.c_str(), item.score);
  return 0;
}
