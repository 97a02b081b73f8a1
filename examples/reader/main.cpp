// A reader's device: fetches the public pack, keeps clicks in its folder, asks privately, ranks the answer
// itself.

#include <cstdio>

#include "device/device.h"
#include "transport/http_transport.h"

using namespace sotto;

// clicks: ids of items that the reader has opened just now; null at the end.
static Status read(const fs::path& folder, const std::string& url, const fs::path& authorities,
                   char** clicks) {
  device::DeviceSettings settings;
  settings.query.epsilon = 3;  // of one answer
  settings.day_epsilon = 6;    // of all answers of a day
  const bool first_use = !fs::exists(folder);
  SOTTO_TRY(auto device, device::Device::open(folder, settings, {.first_use = first_use}));
  // Here a person reads what would be told, and says yes; until then nothing is asked.
  if (!device.consent())
    SOTTO_CHECK(device.agree(device.terms(url, "A front page for you", {.asking = true})));
  SOTTO_TRY(auto server, transport::HttpTransport::create({.url = url, .authorities = authorities}));
  SOTTO_TRY(const bool fetched, device.refresh(server));
  for (; *clicks != nullptr; ++clicks) SOTTO_CHECK(device.click(*clicks));
  SOTTO_TRY(const auto page, device.recommend(server, 5));
  std::printf("%s pack, %s\n", fetched ? "new" : "same", std::string(name(page.source)).c_str());
  for (const auto& item : page.items) std::printf("%s %.3f\n", item.item.c_str(), item.score);
  return {};
}

int main(int count, char** words) {
  const Status done = count < 4 ? bad_input("usage: reader FOLDER URL CERTIFICATE [CLICKED...]")
                                : read(words[1], words[2], words[3], words + 4);
  if (!done) std::fprintf(stderr, "reader: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
