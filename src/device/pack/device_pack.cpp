#include "device/pack/device_pack.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include "base/byte_codec.h"
#include "base/chain_hash.h"
#include "base/utf8.h"
#include "privacy/ledger/ledger_settings.h"

namespace sotto::device {

namespace {

Status check_name(std::string_view name, std::string_view what) {
  if (name.empty() || name.size() > PackLimits::name_bytes || !is_printable(name)) {
    return bad_input("the pack has {} that is not 1 to {} bytes of printable UTF-8", what,
                     PackLimits::name_bytes);
  }
  return {};
}

Status check_matrix(const PackTensor& tensor, std::string_view name, std::size_t most_rows,
                    std::uint32_t columns) {
  if (tensor.name != name || tensor.shape.size() != 2 || tensor.shape[1] != columns) {
    return bad_input("the pack's {} are not rows of {} numbers", name, columns);
  }
  if (tensor.rows() > most_rows)
    return bad_input("the pack has {} {}, at most {} are read", tensor.rows(), name, most_rows);
  return check(tensor);
}

Status check_vector(const std::vector<float>& vector, std::string_view name, std::uint32_t size) {
  if (vector.size() != size ||
      !std::all_of(vector.begin(), vector.end(), [](float x) { return std::isfinite(x); })) {
    return bad_input("the pack's {} is not {} finite numbers", name, size);
  }
  return {};
}

Status check_languages(const std::vector<std::string>& languages) {
  if (languages.size() > PackLimits::languages)
    return bad_input("the pack names more than {} languages", PackLimits::languages);
  std::unordered_set<std::string_view> named;
  for (const std::string& language : languages) {
    SOTTO_CHECK(check_name(language, "a language"));
    if (!named.insert(language).second) return bad_input("the pack names the language {} twice", language);
  }
  return {};
}

Status check_blind(const DevicePack& pack) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const std::string& guide = pack.blind_guide;
  if (!guide.empty() &&
      (guide.size() != 2 * sizeof(ChainHash) || !std::all_of(guide.begin(), guide.end(), is_digit)))
    return bad_input("the pack names its guide by \"{}\", not by a hash", printable(guide));
  const auto& gone = pack.blind_gone;
  if (guide.empty() && !gone.empty())
    return bad_input("the pack takes slots from a guide that it does not name");
  if (std::adjacent_find(gone.begin(), gone.end(), std::greater_equal<>()) != gone.end())
    return bad_input("the pack's slots that are gone are not in ascending order");
  return {};
}

void write(ByteWriter& out, const std::vector<float>& numbers) {
  out.number(static_cast<std::uint64_t>(numbers.size()));
  for (const float number : numbers) out.number(std::bit_cast<std::uint32_t>(number));
}

void write(ByteWriter& out, const PackTensor& tensor) {
  out.text(tensor.name);
  out.number(static_cast<std::uint16_t>(tensor.shape.size()));
  for (const auto length : tensor.shape) out.number(static_cast<std::uint64_t>(length));
  out.number(static_cast<std::uint8_t>(tensor.form));
  out.number(static_cast<std::uint64_t>(tensor.data.size()));
  out.raw(as_text(tensor.data));
  write(out, tensor.scales);
}

}  // namespace

Result<std::string> model_name(const DevicePack& pack) {
  ByteWriter out;
  out.number(pack.dimension);
  out.text(pack.user_model.kind);
  out.number(pack.user_model.heads);
  out.number(pack.user_model.recent_clicks);
  out.number(pack.user_model.max_history);
  out.number(static_cast<std::uint64_t>(pack.user_model.weights.size()));
  for (const PackTensor& weights : pack.user_model.weights) write(out, weights);
  write(out, pack.basis);
  write(out, pack.prototypes);
  write(out, pack.average_user);
  write(out, pack.anonymous);
  SOTTO_TRY(const ChainHash hash, chain_hash({"sotto model", out.bytes()}));
  return to_hex(hash);
}

Status check(const PackItems& items, std::uint32_t dimension, std::size_t categories, std::size_t languages) {
  if (items.size() > PackLimits::items)
    return bad_input("the pack has more than {} items", PackLimits::items);
  if (items.published.size() != items.size() || items.categories.size() != items.size() ||
      items.languages.size() != items.size() || items.vectors.rows() != items.size() ||
      items.vectors.form != NumberForm::i8) {
    return bad_input("the pack's items disagree about their number, or their vectors are not bytes");
  }
  SOTTO_CHECK(check_matrix(items.vectors, "items", PackLimits::items, dimension));
  std::unordered_set<std::string_view> seen(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    SOTTO_CHECK(check_name(items.ids[i], "an item id"));
    if (!seen.insert(items.ids[i]).second) return bad_input("the pack has the item {} twice", items.ids[i]);
    if (i > 0 &&
        std::tie(items.published[i - 1], items.ids[i - 1]) > std::tie(items.published[i], items.ids[i])) {
      return bad_input("the pack's items are not in the order of their publication");
    }
    if (items.categories[i] >= categories && items.categories[i] != no_category) {
      return bad_input("the item {} has a category that the pack does not name", items.ids[i]);
    }
    if (items.languages[i] >= languages && items.languages[i] != no_language) {
      return bad_input("the item {} has a language that the pack does not name", items.ids[i]);
    }
  }
  return {};
}

Status check(const DevicePack& pack) {
  if (pack.dimension == 0 || pack.dimension > PackLimits::dimension) {
    return bad_input("the pack's vectors have {} numbers, not 1 to {}", pack.dimension,
                     PackLimits::dimension);
  }
  if (pack.user_model.max_history == 0 || pack.user_model.max_history > PackLimits::history) {
    return bad_input("the pack's user model reads {} clicks, not 1 to {}", pack.user_model.max_history,
                     PackLimits::history);
  }
  if (pack.user_model.weights.size() > PackLimits::tensors)
    return bad_input("the pack's user model has too many weights");
  for (const PackTensor& weights : pack.user_model.weights) {
    SOTTO_CHECK(check_name(weights.name, "a name of weights"));
    SOTTO_CHECK(check(weights));
  }
  SOTTO_CHECK(check_matrix(pack.basis, "basis", PackLimits::basis, pack.dimension));
  SOTTO_CHECK(check_matrix(pack.prototypes, "prototypes", PackLimits::prototypes, pack.dimension));
  SOTTO_CHECK(check_vector(pack.average_user, "average user", pack.dimension));
  SOTTO_CHECK(check_vector(pack.anonymous, "anonymous item", pack.dimension));
  // Names that a ledger accepts, each once.
  SOTTO_CHECK(privacy::SensitivitySettings::create(pack.categories));
  SOTTO_CHECK(check_languages(pack.languages));
  SOTTO_CHECK(check(pack.items, pack.dimension, pack.categories.size(), pack.languages.size()));
  SOTTO_CHECK(check_blind(pack));
  SOTTO_CHECK(make_user_model(pack));
  SOTTO_TRY(const std::string name, model_name(pack));
  if (pack.model != name) {
    return bad_input("the pack's model version is \"{}\", not the hash of its contents, {}",
                     printable(pack.model), name);
  }
  return {};
}

Result<PackItems> make_items(std::vector<PackItem> items, std::uint32_t dimension) {
  std::sort(items.begin(), items.end(), [](const PackItem& a, const PackItem& b) {
    return std::tie(a.published, a.id) < std::tie(b.published, b.id);
  });
  PackItems made;
  std::vector<float> vectors;
  vectors.reserve(items.size() * dimension);
  for (PackItem& item : items) {
    if (item.vector.size() != dimension) {
      return bad_input("the vector of item {} has {} numbers, not {}", item.id, item.vector.size(),
                       dimension);
    }
    vectors.insert(vectors.end(), item.vector.begin(), item.vector.end());
    made.ids.push_back(std::move(item.id));
    made.published.push_back(item.published);
    made.categories.push_back(item.category);
    made.languages.push_back(item.language);
  }
  SOTTO_TRY(made.vectors,
            PackTensor::from_floats("items", {static_cast<std::uint32_t>(items.size()), dimension}, vectors,
                                    NumberForm::i8));
  return made;
}

Result<UserModel> make_user_model(const DevicePack& pack) {
  std::vector<NamedTensor> weights;
  for (const PackTensor& tensor : pack.user_model.weights) {
    weights.push_back({tensor.name, tensor.shape, tensor.floats()});
  }
  return UserModel::create(
      {pack.user_model.kind, pack.dimension, pack.user_model.heads, pack.user_model.recent_clicks}, weights);
}

}  // namespace sotto::device
