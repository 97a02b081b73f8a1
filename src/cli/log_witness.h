#pragma once
// A witness of a public log: keeps what it saw, and cosigns a head only if the log continues that. The log is
// a file, or that of a coordinator, fetched and answered over HTTP.

#ifdef SOTTO_HAVE_PROTOCOL

#include "base/files.h"
#include "cli/command.h"
#include "rounds/public_log.h"

namespace sotto::cli {

struct WitnessArguments {
  std::string log, owner, key, state, out;
  std::string server, authorities;
  std::int64_t every_seconds = 0;  // look again; 0: once
};

// What `--state` says was seen before: nothing where there is no file.
Result<rounds::LogFrontier> read_witness_state(const fs::path& state);

// Cosigns a head whose log is seen up to `now`, and notes that first: a witness that forgot what it saw could
// be shown a fork.
Result<rounds::HeadCosignature> witness_head(const rounds::LogHead& head, const rounds::LogFrontier& now,
                                             const WitnessArguments& given);

#ifdef SOTTO_HAVE_NET
Status witness_server(const WitnessArguments& given, const Output& output);
#endif

}  // namespace sotto::cli

#endif
