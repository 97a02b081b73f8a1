// Any bytes as the files around a campaign: a draft, tokens, keys, the operator's token, moments and lists of
// settings. An error, or a campaign that has one encoding.

#include <sys/stat.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "cli/campaign_draft.h"
#include "cli/key_files.h"
#include "cli/operator_token.h"
#include "cli/token_files.h"
#include "memory_file.h"

namespace {

using namespace sotto;

void read_draft(const std::string& path) {
  cli::CampaignDraft draft;
  SettingsTable table;
  draft.bind(table);
  if (!table.load_toml(path)) return;
  const auto campaign = draft.campaign();
  if (!campaign) return;
  const std::string bytes = rounds::encode(*campaign);
  const auto again = rounds::decode_campaign(bytes);
  if (again && rounds::encode(*again) != bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const MemoryFile file(data, size);
  if (::chmod(file.path().c_str(), 0600) != 0) std::abort();
  read_draft(file.path());
  if (const auto tokens = cli::read_tokens(file.path()))
    for (const std::string& token : *tokens)
      if (!rounds::open_token(token)) std::abort();
  static_cast<void>(cli::token_from_hex(bytes));
  static_cast<void>(cli::read_secret_key(file.path()));
  static_cast<void>(cli::read_public_key(file.path()));
  if (const auto token = cli::read_operator_token(file.path()); token && token->size() < 16) std::abort();
  static_cast<void>(cli::parse_time(bytes, "a moment"));
  if (const auto settings = cli::parse_local(bytes))
    for (const rounds::LocalSetting& one : *settings)
      if (one.name.empty()) std::abort();
  return 0;
}
