#ifdef SOTTO_HAVE_NET

#include "cli/fold_process.h"

#include <bit>

#include "base/byte_codec.h"

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
  body.number(static_cast<std::uint32_t>(round.numbers.size()));
  for (const float number : round.numbers) body.number(std::bit_cast<std::uint32_t>(number));
  body.long_text(round.checkpoint);
  return std::move(body).take();
}

Result<FoldedRound> parse_folded_round(std::string_view bytes) {
  ByteReader body(bytes);
  FoldedRound round;
  round.rounds_done = body.number<std::uint64_t>();
  round.bound = body.real();
  round.is_last = body.number<std::uint8_t>() != 0;
  const std::size_t count = body.number<std::uint32_t>();
  if (count > body.left() / sizeof(float)) return failed("the trainer's version is cut off");
  round.numbers.resize(count);
  for (float& number : round.numbers) number = std::bit_cast<float>(body.number<std::uint32_t>());
  round.checkpoint = body.long_text();
  if (!body.complete()) return failed("the trainer's version is cut off");
  return round;
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
  auto frame = trainer_->receive(TrainerProcess::Patience::until_interrupted);
  if (frame && frame->kind == kind) return std::move(frame->body);
  trainer_.reset();
  return tl::unexpected(frame ? said_by_trainer(std::move(*frame)) : std::move(frame).error());
}

Result<FoldedModel> FoldProcess::begin(const std::string& checkpoint) {
  trainer_.reset();
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
  }
  SOTTO_TRY(trainer_, TrainerProcess::start(words));
  SOTTO_TRY(const std::string body, expect(FrameKind::ready));
  return parse_folded_model(body);
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
