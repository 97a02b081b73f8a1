#include "model/bert/bert_text.h"

#include <algorithm>

#include "base/progress.h"
#include "base/thread_pool.h"
#include "model/bert/bert_checkpoint.h"
#include "model/recompute.h"

namespace sotto::model {

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

Result<PretrainedBert> open_pretrained_bert(const BertSettings& settings, const data::StringColumn& titles) {
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

ItemText wordpiece_text(const data::StringColumn& texts, const text::WordPiece& tokenizer,
                        std::size_t max_pieces) {
  std::vector<std::vector<text::PieceId>> rows(texts.size());
  Progress progress("cutting titles into pieces", texts.size(), "titles");
  parallel_for(texts.size(), 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      rows[i] = tokenizer.encode_marked(texts[i], max_pieces);
      if (rows[i].size() == 2) rows[i].clear();
    }
    progress.advance(end - begin);
  });
  ItemText text;
  text.offsets.push_back(0);
  for (const auto& row : rows) {
    text.tokens.insert(text.tokens.end(), row.begin(), row.end());
    text.offsets.push_back(static_cast<std::int64_t>(text.tokens.size()));
  }
  return text;
}

using torch::Tensor;

std::int64_t activation_bytes(const BertConfig& config, std::int64_t length) {
  // qkv, mixed, both sums and what their norms make of them; up and its GELU; the weights of attention.
  const std::int64_t numbers = 8 * config.hidden + 2 * config.intermediate + config.heads * length;
  return numbers * static_cast<std::int64_t>(sizeof(float));
}

std::vector<std::int64_t> chunks_of(const Segments& segments, std::int64_t rows) {
  std::vector<std::int64_t> boundaries = {0};
  const auto& offsets = segments.offsets();
  std::int64_t first_row = 0;
  for (std::int64_t n = 0; n < segments.count(); ++n) {
    if (offsets[static_cast<std::size_t>(n) + 1] - first_row <= rows || n == boundaries.back()) continue;
    boundaries.push_back(n);
    first_row = offsets[static_cast<std::size_t>(n)];
  }
  boundaries.push_back(segments.count());
  return boundaries;
}

namespace {

Segments part_of(const Segments& segments, std::int64_t first, std::int64_t last) {
  if (first == 0 && last == segments.count()) return segments;
  const auto begin = segments.offsets().begin() + first;
  std::vector<std::int64_t> offsets(begin, begin + (last - first) + 1);
  const std::int64_t start = offsets.front();
  for (std::int64_t& offset : offsets) offset -= start;
  return Segments(std::move(offsets));
}

}  // namespace

BertTextEncoder::BertTextEncoder(std::shared_ptr<BertModel> bert, std::int64_t pooling_size,
                                 std::int64_t memory)
    : bert_(register_module("bert", std::move(bert))),
      pooling_(register_module("pooling",
                               std::make_shared<AdditivePooling>(bert_->config().hidden, pooling_size))),
      memory_(memory) {}

std::vector<Tensor> BertTextEncoder::trained_behind_embeddings() const {
  std::vector<Tensor> trained;
  const auto add = [&](const torch::nn::Module& module) {
    for (const Tensor& parameter : module.parameters())
      if (parameter.requires_grad()) trained.push_back(parameter);
  };
  for (const auto& layer : bert_->layers) add(*layer);
  add(*pooling_);
  return trained;
}

Tensor BertTextEncoder::forward(const std::vector<std::int64_t>& pieces, const Segments& texts) {
  const std::int64_t layers = bert_->config().layers, first_trained = bert_->first_trained_layer();
  const bool learns = torch::GradMode::is_enabled();
  Tensor embedded;
  {
    const torch::AutoGradMode graph(learns && bert_->words.requires_grad());
    embedded = bert_->embed(pieces, texts);
  }
  // Without a backward pass, and below the first trained layer, only the layer at work takes memory.
  const std::int64_t kept = learns ? std::max<std::int64_t>(layers - first_trained, 1) : 1;
  const std::int64_t rows = memory_ / (kept * activation_bytes(bert_->config(), texts.longest()));
  const auto boundaries =
      texts.owners() ? std::vector<std::int64_t>{0, texts.count()} : chunks_of(texts, rows);
  const bool again = learns && boundaries.size() > 2;
  std::vector<Tensor> vectors;
  for (std::size_t c = 0; c + 1 < boundaries.size(); ++c) {
    const Segments own = part_of(texts, boundaries[c], boundaries[c + 1]);
    Tensor states = embedded.narrow(0, texts.offsets()[static_cast<std::size_t>(boundaries[c])], own.rows());
    if (first_trained > 0) {
      const torch::NoGradGuard no_grad;
      states = bert_->encode(std::move(states), own, 0, first_trained);
    }
    const auto part = [bert = bert_, pooling = pooling_, own, first_trained, layers](const Tensor& x) {
      return pooling->forward(bert->encode(x, own, first_trained, layers), own);
    };
    vectors.push_back(again ? recomputed(part, states, trained_behind_embeddings()) : part(states));
  }
  return torch::cat(vectors);
}

}  // namespace sotto::model
