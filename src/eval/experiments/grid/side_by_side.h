#pragma once
// The runs of a grid by several processes at once. Each takes whatever run nobody has taken yet; a lock
// beside the run's folder, which ends with the process that holds it, keeps two from training the same one.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/files.h"
#include "base/result.h"

namespace sotto::eval {

// PATH.lock, held as long as the value lives.
class Claim {
 public:
  static Result<std::optional<Claim>> take(const fs::path& path);  // nothing: another process has it
  static Result<Claim> wait(const fs::path& path);

 private:
  explicit Claim(Descriptor lock) : lock_(std::move(lock)) {}
  Descriptor lock_;
};

// Starts `count` processes of `command` and waits for all of them, calling `look` several times a second.
// What each says goes to LOGS/worker-N.log. Ctrl-C is handed on; they then end as one alone would. Fails when
// one could not be started, or failed without that, naming its log.
Status run_workers(const std::vector<std::string>& command, int count, const fs::path& logs,
                   const std::function<void()>& look);

}  // namespace sotto::eval
