// play: the networked system at once on this machine, with its pages. Each part is the command that would run
// it in a deployment, as a process of its own.
#ifdef SOTTO_HAVE_NET

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/chain_hash.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "cli/child_process.h"
#include "cli/command.h"

namespace sotto::cli {

namespace {

using std::to_string;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds look_again{100};
constexpr std::chrono::minutes most_time_to_start{5};

struct PlaySettings {
  std::string store;
  std::int64_t devices = 200, cohort = 100, rounds = 40, news = 1500, port = 0, reader_port = 0;
  double epsilon = 8, evaluation_epsilon = 8, answer_epsilon = 4;

  void bind(SettingsTable& table) {
    table.add("devices", devices, {20, 5000}, "Simulated readers with devices")
        .add("cohort", cohort, {20, 5000}, "Devices in a round")
        .add("rounds", rounds, {1, 10'000}, "Rounds of the campaign")
        .add("news", news, {100, 100'000}, "Articles of the newsroom")
        .add("epsilon", epsilon, {1e-3, 1e6}, "What all rounds may cost a device, against the server")
        .add("evaluation_epsilon", evaluation_epsilon, {1e-3, 1e6},
             "What measuring versions may cost a device beside that")
        .add("answer_epsilon", answer_epsilon, {1e-3, 1000},
             "What one answer of the reader's page may tell; below 4 no private question is offered")
        .add("reader_port", reader_port, {0, 65'535}, "Of the reader's page; 0: any free one")
        .add("port", port, {0, 65'535}, "Of the coordinator; 0: any free one");
  }
};

// The folder of it all: gone at the end, unless one was named.
class PlayFolder {
 public:
  static Result<PlayFolder> in(const std::string& named) {
    std::error_code problem;
    if (!named.empty()) {
      if (fs::exists(named) && !fs::is_empty(named, problem))
        return bad_input("{} is not empty: name another folder, or remove it", named);
      fs::create_directories(named, problem);
      if (problem) return failed("cannot create {}: {}", named, problem.message());
      fs::permissions(named, fs::perms::owner_all, problem);
      return PlayFolder(fs::absolute(named), false);
    }
    std::string pattern = (fs::temp_directory_path() / "sotto-play-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) return failed("cannot make a folder {}", pattern);
    return PlayFolder(pattern, true);
  }
  PlayFolder(PlayFolder&& other) noexcept
      : path_(std::move(other.path_)), is_ours_(std::exchange(other.is_ours_, false)) {}
  PlayFolder& operator=(PlayFolder&&) = delete;
  ~PlayFolder() {
    std::error_code ignored;
    if (is_ours_) fs::remove_all(path_, ignored);
  }
  std::string operator/(const char* name) const { return (path_ / name).string(); }
  fs::path log(const char* name) const { return path_ / (std::string(name) + ".log"); }

 private:
  PlayFolder(fs::path path, bool is_ours) : path_(std::move(path)), is_ours_(is_ours) {}
  fs::path path_;
  bool is_ours_;
};

std::string fresh_token() {
  SecureRandom random;
  std::array<std::uint64_t, 3> words{};
  random.fill(words);
  return fmt::format("{:016x}{:016x}{:016x}", words[0], words[1], words[2]);
}

// Events of a part that runs, as it prints them with --json.
class Part {
 public:
  static Result<Part> start(std::string name, const std::vector<std::string>& words,
                            const PlayFolder& folder) {
    SOTTO_TRY(auto process, ChildProcess::start(words, folder.log(name.c_str())));
    return Part(std::move(name), std::move(process));
  }

  // The event of this kind; what comes before it is passed over.
  Result<nlohmann::json> expect(std::string_view event) {
    const auto until = steady_clock::now() + most_time_to_start;
    while (steady_clock::now() < until) {
      if (interrupted()) return failed("interrupted");
      const auto said = next(look_again);
      if (said && said->value("event", "") == event) return *said;
      SOTTO_CHECK(still_runs());
    }
    return failed("the {} did not start in {} minutes", name_, most_time_to_start.count());
  }
  std::optional<nlohmann::json> next(milliseconds patience) {
    const auto line = process_.line(patience);
    if (!line) return std::nullopt;
    auto said = nlohmann::json::parse(*line, nullptr, false);
    if (!said.is_object()) return std::nullopt;
    return said;
  }
  Status still_runs() {
    const auto code = process_.ended();
    if (!code) return {};
    return failed("the {} has ended: {}", name_, process_.last_words());
  }
  // Of one that ends by itself when its work is done. Asked once: it may end between two questions.
  Status has_not_failed() { return process_.ended().value_or(0) == 0 ? Status{} : still_runs(); }
  void ask_to_end() { process_.ask_to_end(); }

 private:
  Part(std::string name, ChildProcess process) : name_(std::move(name)), process_(std::move(process)) {}
  std::string name_;
  ChildProcess process_;
};

Status prepare(const PlaySettings& settings, const PlayFolder& folder) {
  // A few readers have nothing to learn from, and their devices stay away.
  const std::int64_t readers = settings.devices + settings.devices / 5 + 20;
  // Half as many again as the rounds need: who comes first is not who came least.
  const std::int64_t needed =
      (settings.cohort * settings.rounds * 3 / 2 + settings.devices - 1) / settings.devices;
  const std::int64_t participations = std::clamp<std::int64_t>(needed, 1, settings.rounds);
  // Each measurement costs: a few over the whole campaign, the first and the last version among them. Devices
  // of a newsroom of days have few pages, so every third one is kept to measure by.
  constexpr std::int64_t measurements = 4, held_out = 3, pages_that_count = 1;
  const std::int64_t every = std::max<std::int64_t>(1, settings.rounds / measurements);
  const std::int64_t measured = settings.rounds / every + 1;
  SOTTO_CHECK(run_to_end({"data", "generate", "newsroom", "--users", to_string(readers), "--news",
                          to_string(settings.news), "--days", "5", "--out", folder / "newsroom"},
                         folder.log("newsroom")));
  return run_to_end({"campaign",
                     "new",
                     "--recipe",
                     "sotto",
                     "--data",
                     folder / "newsroom",
                     "--cohort",
                     to_string(settings.cohort),
                     "--rounds",
                     to_string(settings.rounds),
                     "--participations",
                     to_string(participations),
                     "--epsilon",
                     to_string(settings.epsilon),
                     "--evaluation-every",
                     to_string(every),
                     "--evaluation-epsilon",
                     to_string(settings.evaluation_epsilon),
                     "--evaluation-participations",
                     to_string(measured),
                     "--evaluation-held-out",
                     to_string(held_out),
                     "--evaluation-pages",
                     to_string(pages_that_count),
                     "--max-training-seconds",
                     "1",
                     "--shortest-phase-seconds",
                     "5",
                     "--purpose",
                     "Better news for the readers of this newsroom",
                     "--out",
                     folder / "draft.toml"},
                    folder.log("campaign"));
}

// The model that the page starts with: a few private rounds in one process.
Status train(const PlaySettings& settings, const PlayFolder& folder) {
  return run_to_end({"train", "sotto", "--data", folder / "newsroom", "--out", folder / "run", "--rounds",
                     "5", "--epsilon", to_string(settings.epsilon)},
                    folder.log("train"));
}

// Its page trains in the coordinator's campaign, and recommends by the versions that come of it.
Result<Part> start_serving(const PlaySettings& settings, const PlayFolder& folder,
                           const std::string& coordinator) {
  return Part::start(
      "server",
      {"--json", "serve", "--run", folder / "run", "--catalogue", folder / "catalogue", "--reader",
       "--epsilon", to_string(settings.answer_epsilon), "--coordinator", coordinator, "--follow",
       "--pack-seconds", "5", "--address", "127.0.0.1", "--port", to_string(settings.reader_port)},
      folder);
}

Status play(const PlaySettings& settings, const Output& output) {
  if (settings.cohort > settings.devices)
    return bad_input("--cohort is {}, and there are {} devices", settings.cohort, settings.devices);
  SOTTO_TRY(const PlayFolder folder, PlayFolder::in(settings.store));
  output.text(fmt::format("a newsroom with {} articles, and {} readers with devices ...", settings.news,
                          settings.devices));
  SOTTO_CHECK(prepare(settings, folder));
  SOTTO_CHECK(train(settings, folder));
  const std::string token = fresh_token();
  SOTTO_CHECK(write_file_atomically(folder / "operator.token", token + "\n", FileReaders::owner));
  SOTTO_TRY(auto coordinator,
            Part::start("coordinator",
                        {"--json", "coordinator", "--campaign", folder / "draft.toml", "--data",
                         folder / "newsroom", "--store", folder / "coordinator", "--operator-token-file",
                         folder / "operator.token", "--serving-file", folder / "servers", "--listen",
                         fmt::format("127.0.0.1:{}", settings.port)},
                        folder));
  SOTTO_TRY(const auto listening, coordinator.expect("listening"));
  const std::string url = listening.value("url", "");
  SOTTO_TRY(auto server, start_serving(settings, folder, url));
  SOTTO_TRY(auto fleet,
            Part::start("fleet",
                        {"--json", "fleet", "--devices", to_string(settings.devices), "--data",
                         folder / "newsroom", "--server", url, "--rounds", to_string(settings.rounds)},
                        folder));
  SOTTO_TRY(const auto reader, server.expect("reader"));
  SOTTO_CHECK(write_file_atomically(folder / "servers", reader.value("url", "") + "\n"));
  output.event({{"event", "playing"},
                {"reader", reader.value("url", "")},
                {"dashboard", url + "/dashboard"},
                {"operator_token", token},
                {"folder", folder / ""}});
  output.text(
      fmt::format("\n  reader     {}\n  operator   {}/dashboard\n  its token  {}\n\nCtrl-C ends it all.\n",
                  reader.value("url", ""), url, token));
  while (!interrupted()) {
    while (const auto said = coordinator.next(look_again)) {
      const std::string event = said->value("event", "");
      if (event == "round" || event == "finished") output.event(*said);
      if (event == "round")
        output.text(fmt::format("round {} of {}: {} devices", said->value("round", 0),
                                said->value("rounds", 0), said->value("devices", 0)));
      if (event == "finished") output.text("all rounds are done; the pages stay");
    }
    SOTTO_CHECK(coordinator.still_runs());
    SOTTO_CHECK(server.still_runs());
    while (const auto said = server.next(milliseconds(0)))  // read, so that its pipe never fills
      if (said->value("event", "") == "followed") {
        output.event(*said);
        output.text(fmt::format("the page recommends by the version of {} rounds", said->value("rounds", 0)));
      }
    while (const auto said = fleet.next(milliseconds(0)))
      if (said->value("event", "") == "done")
        output.text(fmt::format("these readers' AUC: {:.2f} % before, {:.2f} % now",
                                100 * said->value("auc_before", 0.0), 100 * said->value("auc", 0.0)));
    SOTTO_CHECK(fleet.has_not_failed());
  }
  // Both at once: devices wait for answers of the coordinator, which it gives when it ends.
  server.ask_to_end();
  coordinator.ask_to_end();
  fleet.ask_to_end();
  set_interrupted(false);  // this is how it ends
  return {};
}

}  // namespace

void add_play_command(CLI::App& app, Invocation& invocation) {
  struct Flags {
    PlaySettings settings;
    SettingsTable table;
    std::unique_ptr<SettingsFlags> flags;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("play", "All of it at once on this machine, with the web pages");
  command->add_option("--store", flags->settings.store, "Folder for it all; gone with the command otherwise");
  flags->settings.bind(flags->table);
  flags->flags = std::make_unique<SettingsFlags>(*command, flags->table);
  command->callback([flags, &invocation] {
    invocation.action = [flags, &invocation]() -> Status {
      SOTTO_CHECK(flags->flags->apply());
      return play(flags->settings, invocation.output);
    };
  });
}

}  // namespace sotto::cli

#endif
