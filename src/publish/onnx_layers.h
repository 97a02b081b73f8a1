#pragma once
// The layers that the user and the news encoders share, as nodes of an ONNX graph. Rows are [W, D]; weights
// are looked up by the names that they have in the model. Not thread-safe.
//
// Letters: W rows (words, clicks, views), D columns.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "formats/onnx_graph.h"

namespace sotto::publish {

class OnnxLayers {
 public:
  using Numbers = std::function<std::vector<float>(const std::string& name)>;
  OnnxLayers(formats::OnnxGraph& graph, Numbers numbers) : graph_(graph), numbers_(std::move(numbers)) {}

  std::string weights(const std::string& name, const std::vector<std::uint64_t>& shape);
  // Multi-head scaled dot-product self-attention: [W, in] -> [W, heads * head_size]. present: [W, 1], 1 or 0;
  // rows that are not there are not looked at. Empty: all are there.
  std::string attended(const std::string& rows, const std::string& name, std::uint64_t in,
                       std::uint64_t heads, std::uint64_t head_size, const std::string& present = "");
  // x W + b: [W, in] -> [W, out], as many as there are biases.
  std::string dense(const std::string& rows, const std::string& name);
  // Convolution of window 3, then ReLU: [W, in] -> [W, out].
  std::string convolved(const std::string& rows, const std::string& name, std::uint64_t in);
  // Additive attention: [W, D] -> [1, D]; of the rows that are there, and zeros where none is.
  std::string pooled(const std::string& rows, const std::string& name, const std::string& present = "");
  // The rows weighted by softmax(scores): [1, D].
  std::string weighted(const std::string& scores, const std::string& rows);

 private:
  // shares [W, 1] -> the sum of the rows by them: [1, D].
  std::string mixed(const std::string& shares, const std::string& rows);
  // 0 where present is 1, and as good as minus infinity where it is 0.
  std::string barred(const std::string& present);
  std::string number(const char* name, float value);

  formats::OnnxGraph& graph_;
  Numbers numbers_;
  std::vector<std::string> known_;  // constants that several layers share
};

}  // namespace sotto::publish
