#pragma once
// One unsampled PrivacyEvent as bytes.

#include "privacy/accounting/event.h"
#include "privacy/ledger/byte_codec.h"

namespace sotto {

void write_event(ByteWriter& out, const PrivacyEvent& event);
// An error for anything that write_event would not write or validate() would not accept. Bytes that end too
// early are left for the caller to notice by in.complete().
Result<PrivacyEvent> read_event(ByteReader& in);

}  // namespace sotto
