#pragma once
// The news side of a trained model as an ONNX graph: the words of one article, by number, to its vector [D].
// The same function as the model's encode_items(), for whoever encodes articles elsewhere.

#include <optional>

#include "formats/named_array.h"
#include "publish/exported_files.h"
#include "recipes/trained_news.h"

namespace sotto::publish {

// None for models whose news side is no graph of this kind: `catalogue` has none that is trained, `plm-nr`
// reads with BERT. parameters: of the two towers, by name. Longer texts are cut where the model cuts them.
Result<std::optional<std::string>> news_encoder_onnx(const recipes::TrainedNews& news,
                                                     std::span<const formats::NamedArray> parameters,
                                                     const model::WordLimits& words,
                                                     const ExportMetadata& metadata);

}  // namespace sotto::publish
