#include "device/sdk/blind_ranking.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/byte_codec.h"
#include "base/utf8.h"
#include "blind/quantisation.h"
#include "blind/rotation.h"
#include "device/blind/probes.h"
#include "device/wire/server_calls.h"

namespace sotto::device {

namespace {

constexpr std::string_view kept_magic = "SOTTOBLA";
constexpr std::size_t most_kept_bytes = std::size_t{32} << 20;
constexpr std::size_t most_kept_items = 100'000;

std::uint64_t check_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace

std::string encode(const BlindAnswerKept& kept) {
  ByteWriter out;
  out.raw(kept_magic);
  out.number(static_cast<std::uint64_t>(kept.valid_until.time_since_epoch().count()));
  out.number(static_cast<std::uint32_t>(kept.items.size()));
  for (const RankedItem& item : kept.items) {
    out.text(item.item);
    out.number(std::bit_cast<std::uint32_t>(item.score));
  }
  out.number(check_of(out.bytes()));
  return std::move(out).take();
}

Result<BlindAnswerKept> decode_blind_answer_kept(std::string_view bytes) {
  const auto damaged = [] {
    return bad_input(
        "the file of the last blind answer is damaged: delete it, the next one is asked for anew");
  };
  constexpr std::size_t check_bytes = 8;
  if (!bytes.starts_with(kept_magic) || bytes.size() < kept_magic.size() + check_bytes) return damaged();
  const std::string_view checked = bytes.substr(0, bytes.size() - check_bytes);
  if (ByteReader(bytes.substr(checked.size())).number<std::uint64_t>() != check_of(checked)) return damaged();
  ByteReader in(checked.substr(kept_magic.size()));
  BlindAnswerKept kept;
  kept.valid_until =
      privacy::UtcTime(std::chrono::seconds(static_cast<std::int64_t>(in.number<std::uint64_t>())));
  SOTTO_CHECK(privacy::validate(kept.valid_until));
  const auto count = in.number<std::uint32_t>();
  if (count > most_kept_items) return damaged();
  for (std::uint32_t i = 0; i < count && in.good(); ++i) {
    RankedItem item;
    item.item = in.text();
    item.score = std::bit_cast<float>(in.number<std::uint32_t>());
    if (item.item.size() > blind::max_id_bytes || !is_printable(item.item) || !std::isfinite(item.score))
      return damaged();
    kept.items.push_back(std::move(item));
  }
  if (!in.complete()) return damaged();
  return kept;
}

BlindRanking::BlindRanking(const fs::path& folder, privacy::DeviceRandom random)
    : guide_path_(folder / "guide.sotto"), kept_path_(folder / "blind.sotto"), random_(random) {
  std::error_code unreadable;
  if (!fs::exists(kept_path_, unreadable)) return;
  // A damaged one is one that is not there: asking again costs nothing.
  if (const auto bytes = read_file(kept_path_, most_kept_bytes)) {
    if (auto kept = decode_blind_answer_kept(*bytes)) kept_ = std::move(*kept);
  }
}

void BlindRanking::follow(const DevicePack& pack) {
  pack_ = &pack;
  gone_ = {pack.blind_gone.begin(), pack.blind_gone.end()};
  if (version_ != pack.blind_guide) {
    guide_.reset();
    version_.clear();
    keys_.clear();
    question_.reset();
  }
  std::error_code unreadable;
  if (!guide_ && !pack.blind_guide.empty() && fs::exists(guide_path_, unreadable)) {
    // One that is damaged or another one is fetched when it is needed.
    if (const auto bytes = read_file(guide_path_, blind::max_guide_bytes)) static_cast<void>(adopt(*bytes));
  }
  drop_missing();
}

Status BlindRanking::adopt(std::string_view bytes) {
  SOTTO_TRY(std::string version, blind::guide_version(bytes));
  if (version != pack_->blind_guide)
    return bad_input("the guide is not the one that the pack names: fetch the pack again");
  SOTTO_TRY(blind::Guide guide, blind::decode_guide(bytes));
  if (guide.model != pack_->model || guide.parameters.shape.dimension != pack_->dimension)
    return bad_input("the guide is for another model than the pack: fetch the pack again");
  guide_ = std::move(guide);
  version_ = std::move(version);
  return {};
}

// Items that have left must not be shown again.
void BlindRanking::drop_missing() {
  if (!kept_ || !guide_) return;
  std::unordered_set<std::string_view> there(pack_->items.ids.begin(), pack_->items.ids.end());
  std::unordered_set<std::string_view> listed;
  for (const RankedItem& item : kept_->items) listed.insert(item.item);
  for (std::uint32_t item = 0; item < guide_->ids.size(); ++item) {
    const std::string_view id = guide_->ids[item];
    if (listed.contains(id) && !gone_.contains(item)) there.insert(id);
  }
  std::erase_if(kept_->items, [&](const RankedItem& item) { return !there.contains(item.item); });
}

Talk<Status> BlindRanking::ensure_guide(Exchange& exchange) {
  if (guide_) co_return Status();
  if (pack_->blind_guide.empty()) co_return failed("the server does not serve blindly");
  SOTTO_CO_TRY(const ServerAnswer answer, co_await exchange.send(guide_call(pack_->blind_guide)));
  if (answer.status != 200) co_return refused("server", answer);
  SOTTO_CO_CHECK(adopt(answer.body));
  drop_missing();
  co_return write_file_atomically(guide_path_, answer.body);
}

Status BlindRanking::prepare() {
  if (!guide_) return bad_input("there is no guide yet: fetch it first");
  const std::size_t probes = guide_->parameters.shape.probes;
  if (keys_.size() >= probes) return {};
  SOTTO_TRY(auto more, KeyPart::prepare(guide_->parameters, guide_->hint, probes - keys_.size(), random_));
  std::move(more.begin(), more.end(), std::back_inserter(keys_));
  return {};
}

Status BlindRanking::make_question(std::span<const float> user) {
  SOTTO_CHECK(prepare());
  std::vector<KeyPart> keys = std::move(keys_);
  keys_.clear();
  Question question;
  question.user = blind::rotated(user, user.size());
  const auto quantised = blind::quantise_user(question.user, guide_->parameters);
  question.scale = quantised.scale;
  question.clusters = nearest_clusters(*guide_, question.user);
  blind::BlindWords words{version_, {}};
  for (std::size_t probe = 0; probe < question.clusters.size(); ++probe) {
    SOTTO_TRY(SealedProbe sealed, std::move(keys[probe]).seal(quantised.entries, question.clusters[probe]));
    words.words.insert(words.words.end(), sealed.words.begin(), sealed.words.end());
    question.openings.push_back(std::move(sealed.opening));
  }
  question.body = blind::encode_query(words);
  question_ = std::move(question);
  return {};
}

std::vector<RankedItem> BlindRanking::open_answer(Question question, std::span<const std::uint32_t> words,
                                                  std::size_t wanted) const {
  const std::size_t rows = guide_->parameters.shape.rows;
  std::vector<ItemScore> scores;
  for (std::size_t probe = 0; probe < question.openings.size(); ++probe) {
    const auto products = std::move(question.openings[probe]).open(words.subspan(probe * rows, rows));
    const auto found =
        cluster_scores(*guide_, question.user, question.scale, question.clusters[probe], products);
    scores.insert(scores.end(), found.begin(), found.end());
  }
  std::erase_if(scores, [&](const ItemScore& score) { return gone_.contains(score.item); });
  std::vector<RankedItem> items;
  const auto ranked = ranked_once(std::move(scores));
  for (const ItemScore& score : ranked) {
    if (items.size() == wanted) break;
    items.push_back({std::string(guide_->ids[score.item]), score.score});
  }
  return items;
}

Status BlindRanking::forget() {
  kept_.reset();
  question_.reset();
  std::error_code problem;
  fs::remove(kept_path_, problem);
  if (problem) return failed("cannot remove {}: {}", kept_path_.string(), problem.message());
  return {};
}

// The vector is a copy, because a coroutine outlives what it was called with.
// cppcheck-suppress passedByValue
Talk<Result<BlindRanking::Asked>> BlindRanking::ask(Exchange& exchange, std::vector<float> user,
                                                    std::size_t wanted, privacy::Ledger& ledger,
                                                    privacy::RefreshClock clock, privacy::ClockReading now) {
  SOTTO_CO_TRY(const privacy::UtcTime time, ledger.time_at(now));
  if (kept_ && time < kept_->valid_until) co_return Asked{kept_->items, false};
  if (!guide_) co_return bad_input("there is no guide yet: fetch it first");
  if (!question_) {
    const blind::Shape& shape = guide_->parameters.shape;
    privacy::Release release;
    release.purpose = privacy::ReleasePurpose::serving;
    release.event = blind_event(shape);
    release.about = fmt::format(
        "recommendations, {} encrypted probe(s): epsilon 0, computational (ring-LWE: 128 bits by "
        "the standard's table, 115 by the estimate of its best known attack)",
        shape.probes);
    SOTTO_CO_TRY(const privacy::Receipt receipt, ledger.charge(release, now));
    SOTTO_CO_CHECK(receipt.covers(privacy::ReleasePurpose::serving, release.event));
    SOTTO_CO_CHECK(make_question(user));
  }
  SOTTO_CO_TRY(const ServerAnswer heard, co_await exchange.send(blind_call(question_->body)));
  if (heard.status != 200) co_return refused("server", heard);
  SOTTO_CO_TRY(const blind::BlindWords answer, blind::decode_answer(heard.body));
  // Meanwhile another pack may have been installed, or everything forgotten.
  if (!question_ || !guide_) co_return failed("the question was dropped before its answer came");
  const std::size_t expected = question_->openings.size() * guide_->parameters.shape.rows;
  if (answer.guide != version_ || answer.words.size() != expected)
    co_return bad_input("the answer has {} numbers where {} were asked for, or is for another guide",
                        answer.words.size(), expected);
  Question question = std::move(*question_);
  question_.reset();
  kept_ = BlindAnswerKept{privacy::end_of_period(clock, time),
                          open_answer(std::move(question), answer.words, wanted)};
  SOTTO_CO_CHECK(write_file_atomically(kept_path_, encode(*kept_), FileReaders::owner));
  co_return Asked{kept_->items, true};
}

}  // namespace sotto::device
