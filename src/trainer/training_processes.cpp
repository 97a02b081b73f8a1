#include "trainer/training_processes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <mutex>

#include "base/log.h"
#include "base/make_folder.h"
#include "base/progress.h"
#include "base/thread_pool.h"
#include "cli/child_process.h"
#include "cli/command.h"

namespace sotto::trainer {

namespace {

constexpr const char* meeting_file = "SOTTO_MEETING_FILE";  // between a process and those it starts
constexpr int most_processes = 4096;

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

Result<int> number_from(const char* name, int least, int most) {
  const std::string text = from_environment(name);
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < least || value > most)
    return bad_input("{}='{}' in the environment: it must be a number from {} to {}", name, text, least,
                     most);
  return value;
}

// This program's arguments, without its name.
Result<std::vector<std::string>> own_words() {
  SOTTO_TRY(const std::string line, read_file("/proc/self/cmdline", 1 << 24));
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find('\0', begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  if (!words.empty()) words.erase(words.begin());
  return words;
}

bool names_threads(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--threads" || word.starts_with("--threads=");
  });
}

// Of one process that is about to be started, and gone with the object.
class Environment {
 public:
  void set(const char* name, const std::string& value) {
    names_.push_back(name);
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    for (const char* name : names_) ::unsetenv(name);
  }

 private:
  std::vector<const char*> names_;
};

Result<fs::path> folder_of_its_own() {
  std::string folder = (fs::temp_directory_path() / "sotto-train-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return failed("cannot make a folder in {}", folder);
  return fs::path(folder);
}

}  // namespace

Result<std::optional<fl::MeetingPoint>> meeting_point_of_environment(std::int64_t processes) {
  std::optional<fl::MeetingPoint> none;
  if (from_environment("WORLD_SIZE").empty() && from_environment("RANK").empty()) return none;
  fl::MeetingPoint where;
  SOTTO_TRY(where.size, number_from("WORLD_SIZE", 1, most_processes));
  SOTTO_TRY(where.rank, number_from("RANK", 0, where.size - 1));
  where.file = from_environment(meeting_file);
  if (!where.file.empty()) return std::optional(where);
  if (processes > 1)
    return bad_input(
        "--processes {} and WORLD_SIZE={} in the environment both say how many train: leave out --processes "
        "under torchrun, or unset WORLD_SIZE and RANK",
        processes, where.size);
  if (where.size == 1) return none;
  where.address = from_environment("MASTER_ADDR");
  if (where.address.empty())
    return bad_input(
        "WORLD_SIZE={} without MASTER_ADDR in the environment: set it to where rank 0 runs, 127.0.0.1 on one "
        "machine, or use --processes",
        where.size);
  SOTTO_TRY(const int port, number_from("MASTER_PORT", 1, 65535));
  where.port = static_cast<std::uint16_t>(port);
  return std::optional(where);
}

struct TrainingProcesses::Parts {
  fs::path folder;
  std::mutex asking;
  std::vector<cli::ChildProcess> children;  // of rank 1 and up
  fl::ProcessGroup group;
  std::optional<fl::TrainsTogether> together;

  // Those that were started go by themselves when all is well.
  ~Parts() {
    together.reset();
    group = fl::ProcessGroup();
    children.clear();
    remove_folder();
  }

  void remove_folder() const {
    // The thread that tells others of this process may write to the meeting file meanwhile.
    constexpr int attempts = 3;
    std::error_code problem;
    for (int attempt = 0; attempt < attempts && !folder.empty() && fs::exists(folder, problem); ++attempt)
      fs::remove_all(folder, problem);
  }

  std::optional<std::string> ended(int rank) {
    const auto child = static_cast<std::size_t>(rank - 1);
    const std::lock_guard lock(asking);
    if (rank < 1 || child >= children.size()) return std::nullopt;
    const auto code = children[child].ended();
    if (!code) return std::nullopt;
    if (*code > 128) return fmt::format("was ended by signal {}", *code - 128);
    return fmt::format("ended with code {}: {}", *code, children[child].last_words());
  }

  // From any thread. Nothing of the run is lost: it stands any kill.
  [[noreturn]] void end(const std::string& why) {
    static_cast<void>(cli::report_failure({ErrorKind::failed, why}));
    {
      const std::lock_guard lock(asking);
      for (cli::ChildProcess& child : children) child.kill();
    }
    remove_folder();
    std::_Exit(1);
  }

  Status start(const fl::MeetingPoint& where) {
    SOTTO_TRY(auto words, own_words());
    if (!names_threads(words)) {
      set_thread_count(std::max(1, thread_count() / where.size));
      words.insert(words.end(), {"--threads", std::to_string(thread_count())});
    }
    words.emplace_back("--quiet");
    for (int rank = 1; rank < where.size; ++rank) {
      Environment environment;
      environment.set("RANK", std::to_string(rank));
      environment.set("WORLD_SIZE", std::to_string(where.size));
      environment.set("LOCAL_RANK", std::to_string(rank));
      environment.set(meeting_file, where.file.string());
      SOTTO_TRY(auto child, cli::ChildProcess::start(words, folder / fmt::format("rank-{}.log", rank)));
      children.push_back(std::move(child));
    }
    return {};
  }
};

Result<TrainingProcesses> TrainingProcesses::join(std::int64_t processes) {
  auto parts = std::make_unique<Parts>();
  SOTTO_TRY(auto where, meeting_point_of_environment(processes));
  if (!where && processes <= 1) return TrainingProcesses(std::move(parts));
  if (where && !where->file.empty()) {
    // Below the folder of whoever started it, which removes it however this process ends.
    parts->folder = where->file.parent_path() / fmt::format("rank-{}", where->rank);
    SOTTO_CHECK(make_folder(parts->folder));
  } else {
    SOTTO_TRY(parts->folder, folder_of_its_own());
  }
  if (!where) {
    where = fl::MeetingPoint{0, static_cast<int>(processes), parts->folder / "meeting"};
    SOTTO_CHECK(parts->start(*where));
  }
  if (where->rank > 0) {
    set_progress_style(ProgressStyle::silent);
    SOTTO_CHECK(set_log_level("error"));
  }
  Parts* all = parts.get();
  fl::ProcessGroup::Watch watch;
  watch.lost = [all](const std::string& why) { all->end(why); };
  watch.ended = [all](int rank) { return all->ended(rank); };
  SOTTO_TRY(parts->group, fl::ProcessGroup::join(*where, std::move(watch)));
  parts->together.emplace(parts->group);
  return TrainingProcesses(std::move(parts));
}

TrainingProcesses::TrainingProcesses(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TrainingProcesses::TrainingProcesses(TrainingProcesses&&) noexcept = default;
TrainingProcesses::~TrainingProcesses() = default;

const fl::ProcessGroup& TrainingProcesses::group() const { return parts_->group; }

Result<fs::path> TrainingProcesses::own_folder(const fs::path& out) const {
  if (leads()) return out;
  const fs::path own = parts_->folder / "run";
  std::error_code problem;
  if (fs::exists(out)) fs::copy(out, own, fs::copy_options::recursive, problem);
  if (problem)
    return failed("rank {} cannot read the run in {}: {}", group().rank(), out.string(), problem.message());
  return own;
}

}  // namespace sotto::trainer
