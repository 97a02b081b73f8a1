#pragma once
// The requests of a device to its coordinator (rounds/round_messages.h has what is in them).

#include "device/conversation.h"
#include "rounds/round_messages.h"

namespace sotto::device {

ServerCall campaign_call();
ServerCall offer_call();
ServerCall log_call(std::uint64_t from);
ServerCall blob_call(const rounds::Digest& hash);
ServerCall enrol_call(std::string body);
// Signed by the device over method, path and body.
ServerCall signed_call(std::string path, std::string body, const secagg::Identity& device);

// The campaign that a coordinator runs, as its operator signed it: for hosts that ask their person before
// anything else. Who signed it is looked at when a round is offered.
Conversation<rounds::OpenedCampaign> fetch_campaign();

}  // namespace sotto::device
