#pragma once
// A BERT small enough to write down: shared by the tests of the encoder, its files and PLM-NR.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "model/bert/bert_checkpoint.h"
#include "text/write_safetensors.h"

namespace sotto::model::testing {

inline BertConfig tiny_config() {
  BertConfig config;
  config.vocabulary = 11, config.hidden = 8, config.layers = 2, config.heads = 2, config.intermediate = 12;
  config.positions = 7, config.token_types = 2;
  return config;
}

inline constexpr std::string_view tiny_config_json =
    R"({"model_type": "bert", "vocab_size": 11, "hidden_size": 8, "num_hidden_layers": 2,
        "num_attention_heads": 2, "intermediate_size": 12, "max_position_embeddings": 7, "type_vocab_size": 2,
        "hidden_act": "gelu", "layer_norm_eps": 1e-12, "hidden_dropout_prob": 0.1})";

inline constexpr std::string_view tiny_vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\nc\n##a\n##b\n,\n.\n";

// Tensor t in the order of the names, element i: 0.4 sin(0.7 i + t), plus 1 for weights of layer norms.
inline std::shared_ptr<BertModel> tiny_bert(const BertConfig& config = tiny_config()) {
  auto model = std::make_shared<BertModel>(config);
  auto tensors = bert_tensors(*model);
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    auto& [name, tensor] = tensors[t];
    std::vector<float> values(static_cast<std::size_t>(tensor.numel()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(0.4 * std::sin(0.7 * static_cast<double>(i) + static_cast<double>(t)) +
                                     (name.ends_with("LayerNorm.weight") ? 1 : 0));
    tensor.copy_(torch::tensor(values).view(tensor.sizes()));
  }
  return model;
}

// Texts of 4, 2 and 7 pieces, back to back.
inline const std::vector<std::int64_t> tiny_pieces = {2, 5, 9, 3, 2, 3, 10, 0, 1, 4, 6, 7, 8};
inline Segments tiny_texts() { return Segments({0, 4, 6, 13}); }

// The model's tensors as they would lie in a file; owns the bytes that the views show.
class StoredTensors {
 public:
  StoredTensors(BertModel& model, torch::ScalarType type, text::TensorType written,
                const std::string& prefix = "") {
    for (const auto& [name, tensor] : bert_tensors(model)) add(prefix + name, tensor.to(type), written);
  }

  void add(const std::string& name, const torch::Tensor& tensor, text::TensorType written) {
    kept_.push_back(tensor.contiguous());
    text::TensorView view;
    view.type = written;
    for (const std::int64_t extent : tensor.sizes()) view.shape.push_back(static_cast<std::uint64_t>(extent));
    view.bytes = {static_cast<const std::byte*>(kept_.back().data_ptr()),
                  static_cast<std::size_t>(kept_.back().nbytes())};
    views[name] = view;
  }

  text::TensorViews views;

 private:
  std::vector<torch::Tensor> kept_;
};

// tiny_bert() as a folder from the hub would hold it.
inline void write_tiny_checkpoint(const fs::path& folder) {
  auto model = tiny_bert();
  const StoredTensors stored(*model, torch::kFloat32, text::TensorType::f32, "bert.");
  ASSERT_TRUE(text::write_safetensors(folder / "model.safetensors", stored.views));
  ASSERT_TRUE(write_file_atomically(folder / "config.json", tiny_config_json));
  ASSERT_TRUE(write_file_atomically(folder / "vocab.txt", tiny_vocabulary));
}

}  // namespace sotto::model::testing
