// What a round of 500 devices costs each of them in bytes and epsilon, and a device of one's own that keeps
// the account.

#include <cstdio>

#include "device/device.h"
#include "privacy/accounting/plan.h"
#include "privacy/ledger/ledger_statement.h"
#include "secagg/vectors/update_encoding.h"

using namespace sotto;

static Status show(const fs::path& folder) {
  secagg::EncodingPlan::Settings round{
      .dimension = 10'000, .clip = 1, .denominator = 500, .devices = 500, .noise_multiplier = 2};
  SOTTO_TRY(round.step, secagg::finest_step(round, 16));
  SOTTO_TRY(const secagg::EncodingPlan plan, secagg::EncodingPlan::create(round));
  privacy::PrivacyPlan rounds{.noise = plan.settings().noise_multiplier, .rounds = 50, .delta = 1e-6};
  SOTTO_TRY(const privacy::PlanAnswer cost, privacy::account(rounds));
  std::printf("%u bits an entry, epsilon %.2f after %d rounds\n", plan.modulus().bits(),
              cost.published.epsilon, 50);

  device::DeviceSettings settings;
  settings.ranking = "local";  // sends nothing
  SOTTO_TRY(device::Device device, device::Device::open(folder, settings));
  SOTTO_TRY(const privacy::LedgerStatement statement, device.statement());
  std::printf("%s", privacy::to_text(statement).c_str());
  return {};
}

int main(int, char** argv) {
  const Status shown = argv[1] == nullptr ? bad_input("usage: round_cost FOLDER") : show(argv[1]);
  if (!shown) std::fprintf(stderr, "%s\n", shown.error().message.c_str());
  return shown ? 0 : 1;
}
