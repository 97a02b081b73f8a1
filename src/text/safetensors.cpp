#include "text/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/utf8.h"

namespace sotto::text {

static_assert(std::endian::native == std::endian::little, "views of tensors are little-endian");

namespace {

constexpr std::uint64_t max_header_bytes = std::uint64_t{16} << 20;
constexpr std::size_t length_bytes = 8;

// Elements times their size; nothing when that does not fit 64 bits.
std::optional<std::uint64_t> bytes_needed(TensorType type, std::span<const std::uint64_t> shape) {
  std::uint64_t bytes = bytes_of(type);
  for (const std::uint64_t extent : shape) {
    if (extent != 0 && bytes > std::numeric_limits<std::uint64_t>::max() / extent) return std::nullopt;
    bytes *= extent;
  }
  return bytes;
}

}  // namespace

std::string_view name_of(TensorType type) {
  constexpr std::string_view names[] = {"F64", "F32", "F16", "BF16", "I64", "I32", "I16",
                                        "I8",  "U64", "U32", "U16",  "U8",  "BOOL"};
  return names[static_cast<std::size_t>(type)];
}

std::size_t bytes_of(TensorType type) {
  constexpr std::uint8_t sizes[] = {8, 4, 2, 2, 8, 4, 2, 1, 8, 4, 2, 1, 1};
  return sizes[static_cast<std::size_t>(type)];
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Result<std::string> safetensors_bytes(const TensorViews& tensors,
                                      const std::map<std::string, std::string>& metadata) {
  nlohmann::json header = nlohmann::json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t end = 0;
  for (const auto& [name, tensor] : tensors) {
    if (bytes_needed(tensor.type, tensor.shape) != tensor.bytes.size())
      return bad_input("the tensor '{}' has {} bytes, which do not fill its shape {}", name,
                       tensor.bytes.size(), shape_text(tensor.shape));
    const std::uint64_t begin = end;
    end += tensor.bytes.size();
    header[name] = {{"dtype", name_of(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.append((length_bytes - text.size() % length_bytes) % length_bytes, ' ');  // tensors begin aligned
  const std::uint64_t size = text.size();
  std::string bytes(length_bytes, '\0');
  std::memcpy(bytes.data(), &size, length_bytes);
  bytes.reserve(length_bytes + text.size() + end);
  bytes += text;
  for (const auto& [name, tensor] : tensors)
    bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  return bytes;
}

Result<TensorViews> parse_safetensors(std::span<const std::byte> bytes) {
  if (bytes.size() < length_bytes)
    return bad_input("{} bytes are too few for a safetensors file", bytes.size());
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), length_bytes);
  const auto rest = bytes.subspan(length_bytes);
  if (header_bytes > max_header_bytes)
    return bad_input("a header of {} bytes is promised; at most {} are accepted: is this a safetensors file?",
                     header_bytes, max_header_bytes);
  if (header_bytes > rest.size())
    return bad_input("a header of {} bytes is promised, {} are there: the file is cut", header_bytes,
                     rest.size());
  const auto header = rest.first(static_cast<std::size_t>(header_bytes));
  const auto data = rest.subspan(header.size());
  if (header.empty() || header.front() != std::byte{'{'})
    return bad_input("the header does not start with '{{'");
  SOTTO_TRY(auto entries,
            parse_safetensors_header({reinterpret_cast<const char*>(header.data()), header.size()}));

  TensorViews views;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
  for (auto& [name, entry] : entries) {
    if (entry.begin > entry.end || entry.end > data.size())
      return bad_input("tensor '{}': bytes {} to {} lie outside the {} bytes of data", name, entry.begin,
                       entry.end, data.size());
    const auto needed = bytes_needed(entry.type, entry.shape);
    if (needed != entry.end - entry.begin)
      return bad_input("tensor '{}': {} bytes are not what {} of shape {} takes", name,
                       entry.end - entry.begin, name_of(entry.type), shape_text(entry.shape));
    places.emplace_back(entry.begin, entry.end);
    const auto view = data.subspan(static_cast<std::size_t>(entry.begin),
                                   static_cast<std::size_t>(entry.end - entry.begin));
    views.emplace(name, TensorView{entry.type, std::move(entry.shape), view});
  }
  std::sort(places.begin(), places.end());
  std::uint64_t covered = 0;
  for (const auto& [begin, end] : places) {
    if (begin != covered)
      return bad_input("the tensors {} at byte {} of the data", begin < covered ? "overlap" : "leave a gap",
                       std::min(begin, covered));
    covered = end;
  }
  if (covered != data.size())
    return bad_input("{} bytes at the end belong to no tensor", data.size() - covered);
  return views;
}

Result<SafetensorsFile> SafetensorsFile::open(const fs::path& path) {
  SOTTO_TRY(auto file, MappedFile::open(path));
  auto tensors = parse_safetensors(file.bytes());
  if (!tensors) return tl::unexpected(std::move(tensors).error().in(path.string()));
  return SafetensorsFile(std::move(file), std::move(*tensors));
}

const TensorView* SafetensorsFile::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

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

}  // namespace sotto::text
