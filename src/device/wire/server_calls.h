#pragma once
// The requests of a device to the server that recommends (docs/serving/network.md), and what its refusals
// say. Nothing in them is a device's own but the body.

#include "device/conversation.h"

namespace sotto::device {

ServerCall pack_call(std::string_view installed);  // its version; empty: none is installed
ServerCall recommend_call(std::string body);       // a RecommendRequest
ServerCall guide_call(std::string_view version);   // of blind serving
ServerCall blind_call(std::string body);           // a BlindQuery
ServerCall item_call(std::string_view id);         // an article with its vector, of a blind server
// Of an entry of the public log, for whoever saw the first `from`.
ServerCall log_proof_call(std::string_view kind, std::string_view hash, std::uint64_t from);

// What a server says in an answer that is no success: a few printable words, or the number of the status.
std::string error_text(const ServerAnswer& answer);
tl::unexpected<Error> refused(std::string_view who, const ServerAnswer& answer);

}  // namespace sotto::device
