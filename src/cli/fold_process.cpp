#ifdef SOTTO_HAVE_NET

#include "cli/fold_process.h"

#include <cstdlib>

#include "base/byte_codec.h"
#include "base/chain_hash.h"

namespace sotto::cli {

using coordinator::FoldedModel;
using coordinator::FoldedRound;
using coordinator::GroupSum;

Result<std::string> folded_model_body(const FoldedModel& model) {
  SOTTO_TRY(const std::string items, encode(model.items));
  ByteWriter body;
  body.long_text(model.layout);
  body.long_text(items);
  return std::move(body).take();
}

Result<FoldedModel> parse_folded_model(std::string_view bytes) {
  ByteReader body(bytes);
  FoldedModel model;
  model.layout = body.long_text();
  const std::string_view items = body.long_text();
  if (!body.complete()) return failed("the trainer's table of items is cut off");
  SOTTO_TRY(model.items, rounds::decode_items(items));
  return model;
}

std::string folded_round_body(const FoldedRound& round) {
  ByteWriter body;
  body.number(round.rounds_done);
  body.real(round.bound);
  body.number(static_cast<std::uint8_t>(round.is_last ? 1 : 0));
  write(body, round.numbers);
  write(body, round.items);
  body.long_text(round.checkpoint);
  return std::move(body).take();
}

Result<FoldedRound> parse_folded_round(std::string_view bytes) {
  ByteReader body(bytes);
  FoldedRound round;
  round.rounds_done = body.number<std::uint64_t>();
  round.bound = body.real();
  round.is_last = body.number<std::uint8_t>() != 0;
  SOTTO_TRY(round.numbers, rounds::read_rows(body, "trainer's version"));
  SOTTO_TRY(round.items, rounds::read_rows(body, "trainer's table of items"));
  round.checkpoint = body.long_text();
  if (!body.complete()) return failed("the trainer's version is cut off");
  return round;
}

std::string task_body(const TaskOnDevices& task) {
  ByteWriter body;
  body.number(static_cast<std::uint32_t>(task.local.size()));
  for (const rounds::LocalSetting& setting : task.local) {
    body.text(setting.name);
    body.text(setting.value);
  }
  body.long_text(task.layout);
  body.number(task.items);
  body.real(task.clip);
  body.number(task.bits);
  body.number(static_cast<std::uint8_t>(task.bound_follows ? 1 : 0));
  body.real(task.first_noise);
  return std::move(body).take();
}

Result<TaskOnDevices> parse_task(std::string_view bytes) {
  ByteReader body(bytes);
  TaskOnDevices task;
  for (std::size_t left = body.number<std::uint32_t>(); left > 0 && body.good(); --left) {
    std::string name(body.text());
    task.local.push_back({std::move(name), std::string(body.text())});
  }
  task.layout = body.long_text();
  task.items = body.number<std::uint64_t>();
  task.clip = body.real();
  task.bits = body.number<std::uint32_t>();
  task.bound_follows = body.number<std::uint8_t>() != 0;
  task.first_noise = body.real();
  if (!body.complete()) return failed("what the trainer says of the devices' task is cut off");
  return task;
}

Result<TaskOnDevices> ask_for_task(const TaskQuestion& question) {
  // The trainer reads texts into a folder that nobody needs afterwards.
  std::string folder = (fs::temp_directory_path() / "sotto-task-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return failed("cannot make a folder in {}", folder);
  std::vector<std::string> words = {"task",  question.recipe, "--data",    question.data.string(),
                                    "--out", folder,          "--devices", std::to_string(question.devices)};
  if (!question.run.empty()) words.insert(words.end(), {"--run", question.run.string()});
  for (const std::string& assignment : question.assignments) words.insert(words.end(), {"--set", assignment});
  auto answer = [&]() -> Result<TaskOnDevices> {
    SOTTO_TRY(auto trainer, TrainerProcess::start(words));
    SOTTO_TRY(Frame frame, trainer.receive(TrainerProcess::Patience::until_interrupted));
    if (frame.kind != FrameKind::ready) return tl::unexpected(said_by_trainer(std::move(frame)));
    return parse_task(frame.body);
  }();
  std::error_code left_there;
  fs::remove_all(folder, left_there);
  return answer;
}

std::string sums_body(const std::vector<GroupSum>& sums) {
  ByteWriter body;
  body.number(static_cast<std::uint32_t>(sums.size()));
  for (const GroupSum& sum : sums) {
    body.number(sum.group);
    body.number(sum.arrived);
    body.number(static_cast<std::uint32_t>(sum.entries.size()));
    for (const std::uint32_t entry : sum.entries) body.number(entry);
  }
  return std::move(body).take();
}

Result<std::vector<GroupSum>> parse_sums(std::string_view bytes) {
  ByteReader body(bytes);
  const std::size_t count = body.number<std::uint32_t>();
  std::vector<GroupSum> sums;
  for (std::size_t i = 0; i < count && body.good(); ++i) {
    GroupSum sum;
    sum.group = body.number<std::uint32_t>();
    sum.arrived = body.number<std::uint64_t>();
    const std::size_t entries = body.number<std::uint32_t>();
    if (entries > body.left() / sizeof(std::uint32_t)) return failed("the sums of a round are cut off");
    sum.entries.resize(entries);
    for (std::uint32_t& entry : sum.entries) entry = body.number<std::uint32_t>();
    sums.push_back(std::move(sum));
  }
  if (!body.complete()) return failed("the sums of a round are cut off");
  return sums;
}

Result<std::string> FoldProcess::expect(FrameKind kind) {
  auto frame = trainer_->receive([this] { return is_let_go_.load(); });
  if (frame && frame->kind == kind) return std::move(frame->body);
  trainer_.reset();
  return tl::unexpected(frame ? said_by_trainer(std::move(*frame)) : std::move(frame).error());
}

Result<FoldedModel> FoldProcess::begin(const std::string& checkpoint) {
  trainer_.reset();
  if (is_let_go_) return failed("nobody waits for the trainer any more");
  std::error_code problem;
  fs::create_directories(settings_.folder, problem);
  if (problem) return failed("cannot create {}: {}", settings_.folder.string(), problem.message());
  std::vector<std::string> words = {
      "fold",  settings_.campaign.string(), "--data", settings_.data.string(),
      "--out", settings_.folder.string(),   "--seed", std::to_string(settings_.seed)};
  for (const std::string& assignment : settings_.assignments)
    words.insert(words.end(), {"--set", assignment});
  if (!checkpoint.empty()) {
    SOTTO_CHECK(write_file_atomically(settings_.folder / "last.sotto", checkpoint));
    words.emplace_back("--resume");
  } else if (!settings_.begin_with.empty()) {
    words.insert(words.end(), {"--begin-with", settings_.begin_with.string()});
  }
  SOTTO_TRY(trainer_, TrainerProcess::start(words));
  SOTTO_TRY(const std::string body, expect(FrameKind::ready));
  SOTTO_TRY(auto model, parse_folded_model(body));
  if (checkpoint.empty() && settings_.begin_with_items) {
    SOTTO_TRY(const std::string items, encode(model.items));
    if (const auto here = rounds::blob_hash(items); here != *settings_.begin_with_items)
      return bad_input(
          "the version to begin with is about the items {}, and these are {}: start with the data, --set and "
          "--seed of the coordinator that made it",
          to_hex(*settings_.begin_with_items), to_hex(here));
  }
  return model;
}

Result<FoldedRound> FoldProcess::next() {
  if (!trainer_) return failed("the trainer has ended");
  SOTTO_TRY(const std::string body, expect(FrameKind::folded));
  return parse_folded_round(body);
}

Status FoldProcess::give(const std::vector<GroupSum>& sums) {
  if (!trainer_) return failed("the trainer has ended");
  return trainer_->send({FrameKind::sums, sums_body(sums)});
}

}  // namespace sotto::cli

#endif
