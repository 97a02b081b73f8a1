#pragma once
// This program once more, with other arguments, as a process beside this one: its standard output is read
// line by line, what it says otherwise goes into a file.
//
// It is in a process group of its own, so that Ctrl-C ends its parent first, and is asked to end (SIGTERM)
// when its parent does, however that happens. Movable; ends the process with the object. One caller at a
// time.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"

namespace sotto::cli {

class ChildProcess {
 public:
  // words: the arguments behind the name of the program. log: what it says on standard error is written
  // there.
  static Result<ChildProcess> start(const std::vector<std::string>& words, const fs::path& log);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess() { stop(); }

  // The next whole line of its output, waiting at most so long for it. None: there is none, or it has ended.
  std::optional<std::string> line(std::chrono::milliseconds patience);
  // Its exit code once it has ended; 128 and the signal's number when one ended it.
  std::optional<int> ended();
  // Once, however often it is called: a second signal would end it before it has tidied up.
  void ask_to_end();
  // For one that has nothing to tidy up.
  void kill();
  // Asks it to end, waits, and kills it when it takes too long.
  void stop();

  // The last line in the log: why it ended.
  std::string last_words() const;

 private:
  ChildProcess(int process, int output, fs::path log)
      : process_(process), output_(output), log_(std::move(log)) {}

  int process_ = -1;  // -1: moved from
  int output_ = -1;
  bool asked_ = false;
  fs::path log_;
  std::string read_;
  std::optional<int> code_;
};

// Runs one to its end. Its failure is an error with its last words; Ctrl-C ends it and is one too.
Status run_to_end(const std::vector<std::string>& words, const fs::path& log);

}  // namespace sotto::cli
