#include "local/models/news_models.h"

#include "local/models/title_words.h"
#include "local/tape/arithmetic.h"

namespace sotto::local {

void NewsSizes::bind(SettingsTable& table, bool recurrent) {
  table.add("word_size", word_size, {1, 4096}, "Size of a word's vector")
      .add("heads", heads, {1, 1024}, "Heads of self-attention")
      .add("head_size", head_size, {1, 4096}, "Numbers of a head")
      .add("pooling_size", pooling_size, {1, 65536}, "Hidden units of additive pooling")
      .add("dropout", dropout, {0.0, 0.95}, "Share of numbers that are dropped in training")
      .add("train_words", train_words, "Word vectors are trained, and sent")
      .add("vocabulary", vocabulary, {0, 10'000'000}, "Words that are trained; 0: none are");
  if (recurrent)
    table.add("recent_clicks", recent_clicks, {1, 10'000}, "Last clicks that the recurrent unit reads");
}

Status NewsSizes::check() const {
  if (train_words == (vocabulary > 0)) return {};
  return bad_input("train_words is {} and vocabulary is {}: words are trained when both are given",
                   train_words, vocabulary);
}

namespace {

// What the two have in common.
class TitleModel : public RankingModel {
 public:
  const Layout& layout() const override { return layout_; }
  Index vector_size() const override { return sizes_.vector_size(); }
  ItemGradients item_gradients() const override { return ItemGradients::learned; }
  Result<std::size_t> count_items(const RoundInputs& inputs) const override {
    return words_.count_items(inputs);
  }
  std::size_t numbers_for(const RoundInputs& inputs, ItemRow item) const override {
    return (1 + words_of(inputs.titles, item)) *
           (8 * static_cast<std::size_t>(sizes_.word_size) + attention_numbers(vector_size()));
  }
  std::size_t numbers_per_click() const override { return 2 * attention_numbers(vector_size()); }

 protected:
  TitleModel(const NewsSizes& sizes, Parts& parts, const std::string& prefix)
      : sizes_(sizes), words_(parts, prefix, sizes.word_size, sizes.vocabulary), layout_({}) {}
  Value<float> dropped(const Pass& pass, const Value<float>& x) const {
    return dropout(x, pass.trains ? sizes_.dropout : 0, pass.draws);
  }

  NewsSizes sizes_;
  TitleWords words_;
  Layout layout_;
};

class FedNewsRecModel final : public TitleModel {
 public:
  explicit FedNewsRecModel(const NewsSizes& sizes) : FedNewsRecModel(sizes, Parts()) {}

  Value<float> items(Pass& pass, const RoundInputs& inputs, std::span<const ItemRow> items) const override {
    const auto [words, titles] = words_.of(pass, inputs, items);
    Value<float> x = convolution_.forward(pass, dropped(pass, words), titles);
    x = relu(word_attention_.forward(pass, dropped(pass, x), titles));
    return word_pooling_.forward(pass, dropped(pass, x), titles);
  }

  Value<float> users(Pass& pass, const Value<float>& vectors, const Histories& histories) const override {
    const Value<float> clicks = dropped(pass, gather_rows(vectors, histories.rows));
    const Value<float> attended = click_attention_.forward(pass, clicks, histories.offsets);
    const Value<float> long_term = click_pooling_.forward(pass, dropped(pass, attended), histories.offsets);
    const Value<float> short_term = recent_.forward(pass, clicks, histories.offsets);
    // Both rows of a reader beside each other: a segment of two.
    const Index readers = long_term.rows();
    RowNumbers pairs;
    Offsets ends = {0};
    for (Index u = 0; u < readers; ++u) {
      pairs.push_back(u), pairs.push_back(readers + u);
      ends.push_back(2 * (u + 1));
    }
    return merge_pooling_.forward(pass, gather_rows(above(long_term, short_term), std::move(pairs)), ends);
  }

 private:
  FedNewsRecModel(const NewsSizes& sizes, Parts&& parts)
      : TitleModel(sizes, parts, ""),
        convolution_(parts, "word_convolution", sizes.word_size, vector_size()),
        word_attention_(parts, "word_attention", vector_size(), sizes.heads, sizes.head_size),
        word_pooling_(parts, "word_pooling", vector_size(), sizes.pooling_size),
        click_attention_(parts, "click_attention", vector_size(), sizes.heads, sizes.head_size),
        click_pooling_(parts, "click_pooling", vector_size(), sizes.pooling_size),
        recent_(parts, "recent_clicks", vector_size(), vector_size(), sizes.recent_clicks),
        merge_pooling_(parts, "merge_pooling", vector_size(), sizes.pooling_size) {
    layout_ = Layout(std::move(parts));
  }
  WordConvolution convolution_;
  SelfAttention word_attention_;
  AdditivePooling word_pooling_;
  SelfAttention click_attention_;
  AdditivePooling click_pooling_;
  RecentGru recent_;
  AdditivePooling merge_pooling_;
};

class NrmsModel final : public TitleModel {
 public:
  NrmsModel(const NewsSizes& sizes, const std::string& prefix) : NrmsModel(sizes, prefix, Parts()) {}

  Value<float> items(Pass& pass, const RoundInputs& inputs, std::span<const ItemRow> items) const override {
    const auto [words, titles] = words_.of(pass, inputs, items);
    return news_.forward(pass, words, titles);
  }
  Value<float> users(Pass& pass, const Value<float>& vectors, const Histories& histories) const override {
    return user_.forward(pass, gather_rows(vectors, histories.rows), histories.offsets);
  }

 private:
  NrmsModel(const NewsSizes& sizes, const std::string& prefix, Parts&& parts)
      : TitleModel(sizes, parts, prefix),
        news_(parts, prefix + "news",
              {sizes.word_size, sizes.heads, sizes.head_size, sizes.pooling_size, sizes.dropout}),
        user_(parts, prefix + "user",
              {vector_size(), sizes.heads, sizes.head_size, sizes.pooling_size, sizes.dropout}) {
    layout_ = Layout(std::move(parts));
  }
  AttentionEncoder news_, user_;
};

}  // namespace

std::unique_ptr<RankingModel> make_fednewsrec_model(const NewsSizes& sizes) {
  return std::make_unique<FedNewsRecModel>(sizes);
}

std::unique_ptr<RankingModel> make_nrms_model(const NewsSizes& sizes, const std::string& prefix) {
  return std::make_unique<NrmsModel>(sizes, prefix);
}

}  // namespace sotto::local
