#ifdef SOTTO_HAVE_NET

#include "cli/encoder_process.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/byte_codec.h"

namespace sotto::cli {

namespace {

using serving::CatalogueItem;

constexpr std::string CatalogueItem::*article_texts[] = {&CatalogueItem::id, &CatalogueItem::title,
                                                         &CatalogueItem::abstract, &CatalogueItem::category,
                                                         &CatalogueItem::subcategory};

}  // namespace

std::string articles_body(std::span<const CatalogueItem> articles) {
  ByteWriter body;
  body.number(static_cast<std::uint32_t>(articles.size()));
  for (const CatalogueItem& article : articles)
    for (const auto text : article_texts) body.long_text(article.*text);
  return std::move(body).take();
}

Result<std::vector<CatalogueItem>> parse_articles(std::string_view bytes) {
  ByteReader body(bytes);
  const auto count = body.number<std::uint32_t>();
  if (count > most_articles) return failed("{} articles in one frame", count);
  std::vector<CatalogueItem> articles(count);
  for (CatalogueItem& article : articles)
    for (const auto text : article_texts) article.*text = body.long_text();
  if (!body.good()) return failed("the articles of a frame are cut off");
  if (body.left() > 0) return failed("{} bytes too many behind the articles", body.left());
  return articles;
}

std::string vectors_body(std::span<const std::vector<float>> vectors) {
  ByteWriter body;
  body.number(static_cast<std::uint32_t>(vectors.size()));
  body.number(static_cast<std::uint32_t>(vectors.empty() ? 0 : vectors.front().size()));
  for (const auto& vector : vectors)
    for (const float value : vector) body.number(std::bit_cast<std::uint32_t>(value));
  return std::move(body).take();
}

Result<std::vector<std::vector<float>>> parse_vectors(std::string_view bytes) {
  ByteReader body(bytes);
  const auto count = body.number<std::uint32_t>(), width = body.number<std::uint32_t>();
  if (!body.good() || count > most_articles || width > serving::most_vector_numbers ||
      (count == 0 && width > 0) || body.left() != std::size_t{count} * width * sizeof(float))
    return failed("the trainer sent {} bytes for {} vectors of {} numbers", body.left(), count, width);
  std::vector<std::vector<float>> vectors(count, std::vector<float>(width));
  for (auto& vector : vectors)
    for (float& value : vector) value = std::bit_cast<float>(body.number<std::uint32_t>());
  return vectors;
}

Result<std::string> EncoderProcess::make_pack(const fs::path& pack_file,
                                              const serving::ServedRunSettings& settings) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> arguments = {"--pack", pack_file.string()};
  serving::ServedRunSettings copy = settings;
  SettingsTable table;
  copy.bind(table);
  for (const auto& row : table.rows())
    arguments.insert(arguments.end(), {"--set", row.name + "=" + row.value});
  return start(arguments, true);
}

Result<std::string> EncoderProcess::start(const std::vector<std::string>& more_arguments, bool shown) const {
  trainer_.reset();
  std::vector<std::string> words = {"publish", run_.string(), "--data", data_.string()};
  words.insert(words.end(), more_arguments.begin(), more_arguments.end());
  SOTTO_TRY(trainer_, TrainerProcess::start(words, shown));
  auto ready = trainer_->receive(TrainerProcess::Patience::until_interrupted);
  if (ready && ready->kind == FrameKind::ready) return std::move(ready->body);
  trainer_.reset();
  return tl::unexpected(ready ? said_by_trainer(std::move(*ready)) : std::move(ready).error());
}

Result<std::vector<std::vector<float>>> EncoderProcess::encode(std::span<const CatalogueItem> items) const {
  const std::lock_guard lock(mutex_);
  if (!trainer_) {
    std::error_code missing;
    if (fs::last_write_time(run_ / "best.sotto", missing) != trained_ || missing)
      return failed("{} was trained on, or replaced, after its pack was made", run_.string());
    SOTTO_CHECK(start({}, false));
  }
  std::vector<std::vector<float>> vectors;
  vectors.reserve(items.size());
  while (!items.empty()) {
    const auto batch = items.first(std::min(items.size(), most_articles));
    SOTTO_TRY(auto encoded, encode_batch(batch));
    std::move(encoded.begin(), encoded.end(), std::back_inserter(vectors));
    items = items.subspan(batch.size());
  }
  return vectors;
}

Result<std::vector<std::vector<float>>> EncoderProcess::encode_batch(
    std::span<const CatalogueItem> items) const {
  auto answer = [&]() -> Result<Frame> {
    SOTTO_CHECK(trainer_->send({FrameKind::articles, articles_body(items)}));
    return trainer_->receive(TrainerProcess::Patience::ten_minutes);
  }();
  if (answer && answer->kind != FrameKind::vectors)
    return tl::unexpected(said_by_trainer(std::move(*answer)));
  auto vectors = answer ? parse_vectors(answer->body) : tl::unexpected(std::move(answer).error());
  if (vectors && vectors->size() != items.size())
    vectors = failed("the trainer sent {} vectors for {} articles", vectors->size(), items.size());
  if (!vectors) trainer_.reset();  // what it says next belongs to this question
  return vectors;
}

}  // namespace sotto::cli

#endif
