// Where a WordPiece tokenizer's vocabulary and casing come from.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "text/wordpiece.h"

namespace sotto {

namespace {

constexpr std::uint64_t max_config_bytes = std::uint64_t{1} << 20;
constexpr std::size_t max_line_bytes = std::size_t{1} << 16;
constexpr std::size_t max_lines = 10'000'000;

Result<std::vector<std::string>> read_pieces(const fs::path& path) {
  SOTTO_TRY(auto reader, LineReader::open(path, max_line_bytes));
  std::vector<std::string> pieces;
  for (std::string_view line;;) {
    SOTTO_TRY(const bool more, reader.next(line));
    if (!more) return pieces;
    if (pieces.size() == max_lines)
      return bad_input("{}: more than {} lines; this is not a vocabulary", path.string(), max_lines);
    pieces.emplace_back(line);
  }
}

// Markers such as [CLS] are capitals in every vocabulary.
bool has_capitals(const std::vector<std::string>& pieces) {
  return std::any_of(pieces.begin(), pieces.end(), [](const std::string& piece) {
    if (piece.starts_with('[') && piece.ends_with(']')) return false;
    return std::any_of(piece.begin(), piece.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  });
}

// do_lower_case of tokenizer_config.json; nothing when the file or the key is absent.
Result<std::optional<bool>> configured_casing(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  SOTTO_TRY(const std::string text, read_file(path, max_config_bytes));
  const auto config = nlohmann::json::parse(text, nullptr, false);
  if (!config.is_object()) return bad_input("{} is not a JSON object", path.string());
  const auto found = config.find("do_lower_case");
  if (found == config.end()) return std::nullopt;
  if (!found->is_boolean()) return bad_input("{}: 'do_lower_case' must be true or false", path.string());
  return found->get<bool>();
}

Result<WordPiece> create_from(const fs::path& path, const std::vector<std::string>& pieces,
                              const WordPieceSettings& settings) {
  auto created = WordPiece::create(pieces, settings);
  if (!created) return tl::unexpected(std::move(created).error().in(path.string()));
  return created;
}

}  // namespace

Result<WordPiece> WordPiece::load(const fs::path& vocabulary, const WordPieceSettings& settings) {
  SOTTO_TRY(const auto pieces, read_pieces(vocabulary));
  return create_from(vocabulary, pieces, settings);
}

Result<WordPiece> WordPiece::load_folder(const fs::path& folder) {
  const fs::path path = folder / "vocab.txt";
  SOTTO_TRY(const auto pieces, read_pieces(path));
  SOTTO_TRY(const auto configured, configured_casing(folder / "tokenizer_config.json"));
  WordPieceSettings settings;
  settings.lower_case = configured.value_or(!has_capitals(pieces));
  return create_from(path, pieces, settings);
}

}  // namespace sotto
