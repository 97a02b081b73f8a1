#include "text/safetensors_header.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace sotto {

namespace {

constexpr std::size_t max_dimensions = 16;

std::optional<TensorType> type_named(std::string_view name) {
  using enum TensorType;
  for (const TensorType type : {f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, boolean}) {
    if (name == name_of(type)) return type;
  }
  return std::nullopt;
}

using Json = nlohmann::json;

// Follows the events of the parser and stops it at the first one that has no place in a header, so that no
// nesting is ever built up. The levels: the object of all tensors, one tensor, one of its lists;
// metadata is an object beside the tensors.
class HeaderEvents final : public nlohmann::json_sax<Json> {
 public:
  std::map<std::string, TensorEntry, std::less<>> entries;
  std::string problem;

  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("true or false"); }
  bool number_integer(number_integer_t) override { return refuse("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return refuse("a fraction"); }
  bool binary(binary_t&) override { return refuse("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (level_ != Level::list) return refuse("a number");
    if (field_ == "shape") {
      if (entry_.shape.size() == max_dimensions) return stop("a shape of too many dimensions");
      entry_.shape.push_back(value);
      return true;
    }
    if (offsets_ == 2) return stop("'data_offsets' of more than two numbers");
    (offsets_++ == 0 ? entry_.begin : entry_.end) = value;
    return true;
  }

  bool string(string_t& value) override {
    if (level_ == Level::metadata) return true;
    if (level_ != Level::tensor || field_ != "dtype") return refuse("a text");
    const auto type = type_named(value);
    if (!type) return stop(fmt::format("unknown dtype '{}'", value));
    entry_.type = *type;
    return true;
  }

  bool start_object(std::size_t) override {
    if (level_ == Level::outside) {
      level_ = Level::tensors;
    } else if (level_ == Level::tensors) {
      level_ = name_ == "__metadata__" ? Level::metadata : Level::tensor;
      entry_ = {};
      offsets_ = 0;
      seen_.clear();
    } else {
      return refuse("an object");
    }
    return true;
  }

  bool key(string_t& value) override {
    if (level_ == Level::tensors) {
      name_ = value;
      if (!names_.insert(value).second) return stop("the name is there twice");
      return true;
    }
    if (!seen_.insert(value).second) return stop(fmt::format("'{}' is there twice", value));
    if (level_ == Level::metadata) return true;
    field_ = value;
    if (field_ != "dtype" && field_ != "shape" && field_ != "data_offsets")
      return stop(fmt::format("unknown key '{}'", value));
    return true;
  }

  bool end_object() override {
    if (level_ == Level::tensor) {
      if (seen_.size() != 3 || offsets_ != 2)
        return stop("a tensor needs 'dtype', 'shape' and 'data_offsets' of two numbers");
      entries.emplace(name_, std::move(entry_));
    }
    level_ = level_ == Level::tensors ? Level::outside : Level::tensors;
    return true;
  }

  bool start_array(std::size_t) override {
    if (level_ != Level::tensor || field_ == "dtype") return refuse("a list");
    level_ = Level::list;
    return true;
  }

  bool end_array() override {
    level_ = Level::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    if (problem.empty()) problem = fmt::format("not JSON at byte {} of the header", position);
    return false;
  }

 private:
  enum class Level { outside, tensors, tensor, list, metadata };

  bool refuse(std::string_view what) { return stop(fmt::format("{} where none belongs", what)); }
  bool stop(std::string_view what) {
    problem = name_.empty() ? std::string(what) : fmt::format("tensor '{}': {}", name_, what);
    return false;
  }

  Level level_ = Level::outside;
  std::string name_, field_;
  TensorEntry entry_;
  int offsets_ = 0;
  std::set<std::string> names_, seen_;
};

}  // namespace

Result<std::map<std::string, TensorEntry, std::less<>>> parse_safetensors_header(std::string_view json) {
  HeaderEvents events;
  if (!Json::sax_parse(json.begin(), json.end(), &events)) {
    return bad_input("{}", events.problem.empty() ? "the header is not JSON" : events.problem);
  }
  return std::move(events.entries);
}

}  // namespace sotto
