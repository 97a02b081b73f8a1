#pragma once
// What the subcommands of 'sotto campaign' share: a campaign in words, and the one that drafts it.

#ifdef SOTTO_HAVE_PROTOCOL

#include "cli/command.h"
#include "rounds/campaign.h"

namespace sotto::cli {

// In the place of a coordinator's key: a coordinator that tries a draft out puts its own there.
inline constexpr rounds::IdentityKey nobody = [] {
  rounds::IdentityKey key{};
  key.fill(0xff);
  return key;
}();

rounds::UtcTime current_time();
Status refuse_to_replace(const fs::path& path);
// What devices are asked, and what it costs them. hash: empty for a draft.
void say_terms(const rounds::Campaign& campaign, const rounds::CampaignTerms& terms, const std::string& hash,
               const Output& output);

void add_campaign_new(CLI::App& campaign, Invocation& invocation);

}  // namespace sotto::cli

#endif
