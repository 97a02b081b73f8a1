#include "model/bert_source.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "model/bert_checkpoint.h"

namespace sotto {

void BertSettings::bind(SettingsTable& table) {
  table
      .add("bert", folder,
           "Folder of a BERT checkpoint (config.json, model.safetensors, vocab.txt); empty: random weights")
      .add_choice("bert_size", size, {std::begin(bert_sizes), std::end(bert_sizes)},
                  "Size of a BERT with random weights, which reads whole words")
      .add("trainable_layers", trainable_layers,
           "Layers of BERT that learn: none, all, last N, or a list such as embeddings,0,1; auto: the last 2 "
           "of a checkpoint, all of random weights")
      .add("max_pieces", max_pieces, {3, 100'000},
           "Word pieces of a title that a checkpoint reads, both markers included");
}

namespace {

Status choose_trained(BertModel& model, const BertSettings& settings) {
  const std::int64_t layers = model.config().layers;
  const std::string chosen = settings.trainable_layers != "auto" ? settings.trainable_layers
                             : settings.pretrained()
                                 ? fmt::format("last {}", std::min<std::int64_t>(2, layers))
                                 : "all";
  SOTTO_TRY(const auto parts, parse_trainable_parts(chosen, layers));
  model.train_only(parts);
  return {};
}

}  // namespace

Result<PretrainedBert> open_pretrained_bert(const BertSettings& settings, const StringColumn& titles) {
  const fs::path folder = settings.folder;
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    return bad_input(
        "bert={} is not a folder: give the folder that holds config.json, model.safetensors and "
        "vocab.txt of a BERT checkpoint",
        settings.folder);
  for (const char* name : {"config.json", "vocab.txt", "model.safetensors"})
    if (!fs::exists(folder / name, ignored))
      return bad_input("{} has no {}: a BERT checkpoint is config.json, model.safetensors and vocab.txt",
                       settings.folder, name);
  SOTTO_TRY(auto checkpoint, load_bert(folder));
  const std::int64_t positions = checkpoint.model->config().positions;
  if (settings.max_pieces > positions)
    return bad_input("max_pieces={}: this BERT reads at most {} pieces", settings.max_pieces, positions);
  SOTTO_CHECK(choose_trained(*checkpoint.model, settings));
  ItemText pieces =
      wordpiece_text(titles, checkpoint.tokenizer, static_cast<std::size_t>(settings.max_pieces));
  return PretrainedBert{checkpoint.model, std::move(pieces), std::move(checkpoint.tokenizer)};
}

Result<std::shared_ptr<BertModel>> make_random_bert(const BertSettings& settings, std::int64_t words,
                                                    std::int64_t max_words) {
  SOTTO_TRY(auto config, bert_of_size(settings.size));
  config.vocabulary = words;
  config.positions = max_words;
  auto model = std::make_shared<BertModel>(config);
  model->random_start();
  SOTTO_CHECK(choose_trained(*model, settings));
  return model;
}

ItemText wordpiece_text(const StringColumn& texts, const WordPiece& tokenizer, std::size_t max_pieces) {
  std::vector<std::vector<PieceId>> rows(texts.size());
  parallel_for(texts.size(), 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      rows[i] = tokenizer.encode_marked(texts[i], max_pieces);
      if (rows[i].size() == 2) rows[i].clear();
    }
  });
  ItemText text;
  text.offsets.push_back(0);
  for (const auto& row : rows) {
    text.tokens.insert(text.tokens.end(), row.begin(), row.end());
    text.offsets.push_back(static_cast<std::int64_t>(text.tokens.size()));
  }
  return text;
}

}  // namespace sotto
