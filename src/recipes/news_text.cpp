#include "recipes/news_text.h"

#include <fmt/format.h>

#include "base/log.h"
#include "model/bert/bert_checkpoint.h"
#include "model/news/word_space.h"
#include "text/glove.h"

namespace sotto::recipes {
namespace {

// FNV-1a over strings and where they end.
class Fingerprint {
 public:
  void add(std::string_view text) {
    for (const char letter : text) mix(static_cast<unsigned char>(letter));
    mix(0x100);  // no byte
  }
  void add(const data::StringColumn& texts) {
    for (std::size_t i = 0; i < texts.size(); ++i) add(texts[i]);
    mix(0x101);
  }
  std::string text() const { return fmt::format("{:016x}\n", value_); }

 private:
  void mix(std::uint64_t symbol) { value_ = (value_ ^ symbol) * 0x100000001b3ULL; }
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

tl::unexpected<Error> no_text(const data::Dataset& dataset) {
  return bad_input(
      "the items of {} have no text, which this recipe reads: import it with a column of titles or texts "
      "(docs/data-formats.md), or train dp-svd, which reads none{}",
      dataset.name(),
      dataset.has_interactions() ? ""
                                 : ", on what 'sotto data view DATA --view interactions --out DIR' makes");
}

Result<text::Vocabulary> vocabulary_of(const NewsSettings& settings, const RunRequest& request,
                                       const model::FeatureUse& use, const text::WordTokenizer& tokenizer) {
  const fs::path stored = request.run / "vocabulary.sotto";
  if (fs::exists(stored)) return text::Vocabulary::load(stored);
  const data::StringColumn titles = request.dataset.catalogue().titles,
                           abstracts = request.dataset.catalogue().abstracts;
  const std::size_t items = titles.size();
  auto vocabulary = text::Vocabulary::build(
      text::count_words(
          use.abstracts ? items + abstracts.size() : items,
          [&](std::size_t i) { return i < items ? titles[i] : abstracts[i - items]; }, tokenizer),
      settings.text.vocabulary);
  if (vocabulary.size() <= 2) return no_text(request.dataset);
  SOTTO_CHECK(vocabulary.save(stored));
  return vocabulary;
}

Result<torch::Tensor> word_vectors(const NewsSettings& settings, const RunRequest& request,
                                   const text::Vocabulary& vocabulary) {
  const auto rows = static_cast<std::int64_t>(vocabulary.size()), columns = settings.shape.word_size;
  if (settings.glove.empty()) {
    if (!settings.shape.train_words)
      return bad_input(
          "untrained random word vectors mean nothing: give --set glove=FILE or --set train_words=true");
    return torch::randn({rows, columns}) * settings.word_scale;
  }
  SOTTO_TRY(auto vectors,
            text::read_glove(settings.glove, vocabulary, {request.seed, static_cast<std::size_t>(columns)}));
  info("word vectors: {} of {} words found in {}", vectors.coverage.words_found, vectors.coverage.words,
       settings.glove);
  return torch::from_blob(vectors.values.data(), {rows, columns}, torch::kFloat32).clone();
}

// What a run was trained with, also for other items than those it was made from.
Result<model::WordSpace> word_space_of(const NewsSettings& settings, const RunRequest& request,
                                       const model::ItemFeatures& items, std::size_t vocabulary) {
  const fs::path stored = request.run / "words.sotto";
  if (fs::exists(stored)) return model::WordSpace::load(stored, vocabulary);
  SOTTO_TRY(auto space, model::WordSpace::of_items(items, vocabulary,
                                                   {.size = settings.vector_size, .seed = request.seed}));
  SOTTO_CHECK(space.save(stored));
  return space;
}

// A run keeps only the layers that learn: the others must be found again as they were.
Status check_same_checkpoint(const fs::path& run, const std::string& folder) {
  SOTTO_TRY(const auto fingerprint, model::bert_fingerprint(folder));
  const fs::path stored = run / "bert.txt";
  if (!fs::exists(stored)) return write_file_atomically(stored, fingerprint);
  SOTTO_TRY(const auto text, read_file(stored, 256));
  if (text == fingerprint) return {};
  return bad_input("{} was trained with another BERT than the one in {}: put that one back", run.string(),
                   folder);
}

// Behind the catalogue's items. A model reads it like any other; of categories and entities it has none.
void add_anonymous_item(model::ItemFeatures& features, const std::vector<std::int32_t>& title) {
  const auto add = [](model::ItemText& text, const std::vector<std::int32_t>& tokens) {
    if (text.offsets.empty()) return;
    text.tokens.insert(text.tokens.end(), tokens.begin(), tokens.end());
    text.offsets.push_back(static_cast<std::int64_t>(text.tokens.size()));
  };
  add(features.titles, title);
  add(features.abstracts, {text::Vocabulary::padding});
  add(features.title_entities, {});
  if (!features.categories.empty()) features.categories.push_back(0);
  if (!features.subcategories.empty()) features.subcategories.push_back(0);
}

Result<NewsText> read_with_checkpoint(const NewsSettings& settings, const RunRequest& request) {
  SOTTO_TRY(auto pretrained, model::open_pretrained_bert(settings.bert, request.dataset.catalogue().titles));
  if (pretrained.titles.tokens.empty()) return no_text(request.dataset);
  SOTTO_CHECK(check_same_checkpoint(request.run, settings.bert.folder));
  NewsText text;
  text.bert = std::move(pretrained.model);
  const std::vector<std::int32_t> anonymous = {
      pretrained.tokenizer.class_marker(), pretrained.tokenizer.padding(), pretrained.tokenizer.separator()};
  text.read = [tokenizer = std::make_shared<const text::WordPiece>(std::move(pretrained.tokenizer)),
               pieces =
                   static_cast<std::size_t>(settings.bert.max_pieces)](const data::Catalogue& catalogue) {
    model::ItemFeatures features;
    features.titles = model::wordpiece_text(catalogue.titles, *tokenizer, pieces);
    return features;
  };
  text.items = std::make_shared<model::ItemFeatures>();
  text.items->titles = std::move(pretrained.titles);
  if (settings.anonymous_item) add_anonymous_item(*text.items, anonymous);
  return text;
}

}  // namespace

Result<NewsText> read_news_text(const NewsSettings& settings, const RunRequest& request,
                                const model::ModelEntry& entry) {
  const bool language_model = entry.reads_setting("bert"),
             from_catalogue = entry.reads_setting("vector_size");
  if (language_model && settings.bert.pretrained()) return read_with_checkpoint(settings, request);
  const text::WordTokenizer tokenizer(settings.text.tokenizer);
  SOTTO_TRY(auto vocabulary, vocabulary_of(settings, request, entry.features, tokenizer));
  const model::WordLimits limits{static_cast<std::size_t>(settings.text.max_words),
                                 static_cast<std::size_t>(settings.max_abstract_words)};
  NewsText text;
  if (language_model) {
    info(
        "no checkpoint (--set bert=DIR): {} BERT starts from random weights and reads the {} words of the "
        "titles, not word pieces",
        settings.bert.size, vocabulary.size());
    SOTTO_TRY(text.bert, model::make_random_bert(settings.bert, static_cast<std::int64_t>(vocabulary.size()),
                                                 settings.text.max_words));
  } else if (!from_catalogue) {
    SOTTO_TRY(text.words, word_vectors(settings, request, vocabulary));
  }
  const std::size_t known_words = vocabulary.size();
  text.read = [tokenizer, limits, use = entry.features,
               words = std::make_shared<const text::Vocabulary>(std::move(vocabulary))](
                  const data::Catalogue& catalogue) {
    return model::build_item_features(catalogue, use, tokenizer, *words, limits);
  };
  text.items = std::make_shared<model::ItemFeatures>(text.read(request.dataset.catalogue()));
  if (settings.anonymous_item) add_anonymous_item(*text.items, {text::Vocabulary::padding});
  if (from_catalogue) {
    SOTTO_TRY(const auto space, word_space_of(settings, request, *text.items, known_words));
    text.words = space.table();
  }
  return text;
}

Status check_learned_codes(const fs::path& run, const data::Dataset& dataset, const model::ModelEntry& entry,
                           const model::KnownUsers& known) {
  const bool entities = entry.features.entities && dataset.catalogue().entity_dimension == 0;
  if (!entry.features.categories && !entities && !entry.user_ids()) return {};
  Fingerprint fingerprint;
  if (entry.features.categories) {
    fingerprint.add(dataset.catalogue().category_names);
    fingerprint.add(dataset.catalogue().subcategory_names);
  }
  if (entities) fingerprint.add(dataset.catalogue().entity_ids);
  for (const data::UserId user : known.users) fingerprint.add(dataset.user_ids()[user]);

  const fs::path stored = run / "codes.txt";
  if (!fs::exists(stored)) return write_file_atomically(stored, fingerprint.text());
  SOTTO_TRY(const auto text, read_file(stored, 64));
  if (text == fingerprint.text()) return {};
  return bad_input(
      "{} has learned rows for the categories, entities or users of the data it was trained on, and {} has "
      "others: evaluate it on its own data, or train a model that reads words alone, such as nrms",
      run.string(), dataset.name());
}

}  // namespace sotto::recipes
