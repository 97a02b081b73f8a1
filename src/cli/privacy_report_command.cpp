// sotto privacy report: what a privacy officer files about one trained run, a coordinator or a device, two
// printed pages.

#include <memory>

#include "base/make_folder.h"
#include "cli/command.h"
#include "cli/privacy_page.h"
#include "privacy/ledger/ledger.h"

namespace sotto::cli {

namespace {

struct ReportArguments {
  std::string subject, out;
  PageWishes wishes;
  bool replace = false;
};

// Before anything is computed: a report that cannot be written is not worth an audit.
Status check_out(const fs::path& out, bool replace) {
  if (fs::is_directory(out) || !out.has_filename())
    return bad_input("--out {} is a folder: name the HTML file to write, for example {}", out.string(),
                     (out / "privacy.html").lexically_normal().string());
  if (fs::exists(out) && !replace)
    return bad_input("{} exists: choose another --out, or say --replace", out.string());
  return {};
}

bool asks_for_run(const PageWishes& wishes) { return wishes.queries_per_day || wishes.query_epsilon; }

Status refuse_wishes_of_runs(const ReportArguments& arguments, const char* what) {
  if (!asks_for_run(arguments.wishes)) return {};
  return bad_input("--queries-per-day and --query-epsilon are for the report of a run, and {} is {}",
                   arguments.subject, what);
}

// By what is there: an address, a coordinator's store, a device's ledger; anything else should be a run.
Result<PrivacyPage> page_of(const ReportArguments& arguments) {
  const std::string& subject = arguments.subject;
  const bool is_address = subject.find("://") != std::string::npos;
#ifdef SOTTO_HAVE_NET
  if (is_address || fs::exists(fs::path(subject) / "store.sqlite")) {
    SOTTO_CHECK(refuse_wishes_of_runs(arguments, "a coordinator: devices say what they ask for"));
    return page_of_coordinator(subject, arguments.wishes);
  }
#endif
  if (is_address) return bad_input("{}: this sotto was built without the network", subject);
  if (fs::exists(fs::path(subject) / privacy::ledger_file_name)) {
    SOTTO_CHECK(refuse_wishes_of_runs(arguments, "a device: its ledger says what was charged"));
    return page_of_device(subject);
  }
  if (!fs::is_directory(subject))
    return bad_input(
        "{} is {}: name the folder of a run, of a coordinator's store or of a device, or a "
        "coordinator's "
        "address (http://… or https://…)",
        subject, fs::exists(subject) ? "a file" : "not there");
  return page_of_run(subject, arguments.wishes);
}

Status write_report(const ReportArguments& arguments, const Output& output) {
  const fs::path out = arguments.out;
  SOTTO_CHECK(check_out(out, arguments.replace));
  SOTTO_TRY(PrivacyPage page, page_of(arguments));
  if (out.has_parent_path()) SOTTO_CHECK(make_folder(out.parent_path()));
  SOTTO_CHECK(write_file_atomically(out, page.html));
  page.event["file"] = out.string();
  output.event(page.event);
  output.text(fmt::format("report: {}", out.string()));
  if (page.refuted) return failed("a lower bound exceeds what is claimed: this privacy does not hold");
  return {};
}

}  // namespace

void add_privacy_report_command(CLI::App& privacy, Invocation& invocation) {
  constexpr int most_queries = 100'000;
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command = privacy.add_subcommand(
      "report", "Two pages about a run, a coordinator or a device, to be filed or printed");
  command
      ->add_option("subject", arguments->subject,
                   "Folder of a trained run or of a device; folder of a coordinator's store, or its address")
      ->required()
      ->option_text("RUN|SERVER|DEVICE REQUIRED");
  command->add_option("--out", arguments->out, "HTML file to write")->required();
  command
      ->add_option("--queries-per-day", arguments->wishes.queries_per_day,
                   "Of a run: questions of one device that are added up [1]")
      ->check(CLI::Range(0, most_queries));
  command
      ->add_option(
          "--query-epsilon", arguments->wishes.query_epsilon,
          "Of a run: what one question tells where it is served by prototypes ('sotto serve --epsilon E'); "
          "without it, what the run's own serving_epsilon says")
      ->check(CLI::Range(1e-6, 1e6));
  command->add_option("--operator-key", arguments->wishes.operator_key,
                      "Of a coordinator: public key file of the operator who must have signed its campaign");
  command->add_option("--authorities", arguments->wishes.authorities,
                      "Of a coordinator: PEM file of certificates to trust, for https");
  command->add_flag("--replace", arguments->replace, "Overwrite the file");
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation] { return write_report(*arguments, invocation.output); };
  });
}

}  // namespace sotto::cli
