#include "text/wordpiece.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/utf8.h"
#include "text/unicode.h"

namespace sotto::text {

namespace {

bool is_ideograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B820 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) {
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
  }
  return unicode_category(c) == UnicodeCategory::punctuation;
}

enum class Cleaned { kept, space, dropped };

Cleaned clean(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r' || c == ' ') return Cleaned::space;
  if (c < 0x80) return c < 0x20 || c == 0x7F ? Cleaned::dropped : Cleaned::kept;
  if (c == replacement_character) return Cleaned::dropped;
  switch (unicode_category(c)) {
    case UnicodeCategory::control:
    case UnicodeCategory::format:
      return Cleaned::dropped;
    case UnicodeCategory::space:
    case UnicodeCategory::line_end:  // survives the published cleaning, but separates words all the same
      return Cleaned::space;
    default:
      return Cleaned::kept;
  }
}

}  // namespace

// Lower-cases the gathered word as a whole (a capital sigma looks at its neighbours), then cuts it at
// punctuation.
void BasicTokenizer::finish_word(BasicWords& words) const {
  if (words.word_.empty()) return;
  std::u32string* word = &words.word_;
  if (lower_case_) {
    words.lowered_.clear();
    words.decomposed_.clear();
    append_lower_case(words.word_, words.lowered_);
    append_decomposed(words.lowered_, words.decomposed_);
    word = &words.decomposed_;
  }
  std::size_t begin = words.characters_.size();
  const auto end_word = [&] {
    if (words.characters_.size() == begin) return;
    begin = words.characters_.size();
    words.ends_.push_back(begin);
  };
  for (const char32_t c : *word) {
    if (lower_case_ && c >= 0x80 && unicode_category(c) == UnicodeCategory::nonspacing_mark) continue;
    const bool alone = is_punctuation(c);
    if (alone) end_word();
    words.characters_.push_back(c);
    if (alone) end_word();
  }
  end_word();
  words.word_.clear();
}

void BasicTokenizer::tokenize(std::string_view text, BasicWords& words) const {
  words.characters_.clear();
  words.ends_.clear();
  words.word_.clear();
  for (std::size_t position = 0; position < text.size();) {
    const char32_t c = decode_utf8(text, position);
    const Cleaned cleaned = clean(c);
    if (cleaned == Cleaned::dropped) continue;
    const bool alone = cleaned == Cleaned::kept && is_ideograph(c);
    if (alone || cleaned == Cleaned::space) finish_word(words);
    if (cleaned == Cleaned::kept) words.word_.push_back(c);
    if (alone) finish_word(words);
  }
  finish_word(words);
}

namespace {

constexpr std::size_t max_pieces = 10'000'000;
constexpr std::size_t max_piece_bytes = 4096;
constexpr std::string_view inside_mark = "##";

}  // namespace

// Two indexes, so that no "##" is ever put in front of a candidate. Their keys are views of `pieces`, which
// never changes after creation.
struct WordPiece::Table {
  using Index = std::unordered_map<std::string_view, PieceId>;

  WordPieceSettings settings;
  std::vector<std::string> pieces;
  Index first, inside;            // pieces that begin a word; pieces within one, without their "##"
  std::size_t longest_bytes = 0;  // no longer candidate can be found
  PieceId padding = 0, unknown = 0, class_marker = 0, separator = 0;

  Status add_all();
  Status find_markers();
  // Appends the pieces of one word.
  void cut(std::u32string_view word, std::string& bytes, std::vector<std::size_t>& ends,
           std::vector<PieceId>& ids) const;
};

Status WordPiece::Table::add_all() {
  if (pieces.size() > max_pieces)
    return bad_input("{} pieces; no vocabulary has more than {}", pieces.size(), max_pieces);
  first.reserve(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string_view piece = pieces[i];
    if (piece.empty()) return bad_input("line {}: an empty piece", i + 1);
    if (piece.size() > max_piece_bytes)
      return bad_input("line {}: {} bytes; no piece is longer than {}", i + 1, piece.size(), max_piece_bytes);
    if (!is_utf8(piece)) return bad_input("line {}: not UTF-8", i + 1);
    const bool within = piece.size() > inside_mark.size() && piece.starts_with(inside_mark);
    const std::string_view key = within ? piece.substr(inside_mark.size()) : piece;
    const auto [known, fresh] = (within ? inside : first).emplace(key, static_cast<PieceId>(i));
    if (!fresh)
      return bad_input("line {}: the piece '{}' is on line {} already", i + 1, piece, known->second + 1);
    longest_bytes = std::max(longest_bytes, key.size());
  }
  return {};
}

Status WordPiece::Table::find_markers() {
  for (const auto& [marker, id] : {std::pair("[PAD]", &padding), std::pair("[UNK]", &unknown),
                                   std::pair("[CLS]", &class_marker), std::pair("[SEP]", &separator)}) {
    const auto found = first.find(marker);
    if (found == first.end())
      return bad_input("no line is '{}': this is not the vocab.txt of a BERT checkpoint", marker);
    *id = found->second;
  }
  return {};
}

void WordPiece::Table::cut(std::u32string_view word, std::string& bytes, std::vector<std::size_t>& ends,
                           std::vector<PieceId>& ids) const {
  if (word.size() > settings.max_word_characters) return ids.push_back(unknown);
  bytes.clear();
  ends.assign(1, 0);  // where each character ends: pieces are cut between characters, not bytes
  for (const char32_t character : word) {
    append_utf8(character, bytes);
    ends.push_back(bytes.size());
  }
  const std::size_t kept = ids.size();
  for (std::size_t begin = 0; begin < word.size();) {
    const Index& index = begin == 0 ? first : inside;
    std::size_t end = word.size();
    auto longest = index.end();
    for (; end > begin; --end) {
      const std::size_t length = ends[end] - ends[begin];
      if (length > longest_bytes) continue;
      longest = index.find(std::string_view(bytes).substr(ends[begin], length));
      if (longest != index.end()) break;
    }
    if (end == begin) {
      ids.resize(kept);
      return ids.push_back(unknown);
    }
    ids.push_back(longest->second);
    begin = end;
  }
}

WordPiece::WordPiece(std::unique_ptr<Table> table) : table_(std::move(table)) {}
WordPiece::WordPiece(WordPiece&&) noexcept = default;
WordPiece& WordPiece::operator=(WordPiece&&) noexcept = default;
WordPiece::~WordPiece() = default;

Result<WordPiece> WordPiece::create(const std::vector<std::string>& pieces,
                                    const WordPieceSettings& settings) {
  auto table = std::make_unique<Table>();
  table->settings = settings;
  table->pieces = pieces;
  SOTTO_CHECK(table->add_all());
  SOTTO_CHECK(table->find_markers());
  return WordPiece(std::move(table));
}

void WordPiece::encode(std::string_view text, std::vector<PieceId>& ids, BasicWords& scratch) const {
  ids.clear();
  BasicTokenizer(table_->settings.lower_case).tokenize(text, scratch);
  std::string bytes;
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < scratch.size(); ++i) table_->cut(scratch[i], bytes, ends, ids);
}

std::vector<PieceId> WordPiece::encode(std::string_view text) const {
  std::vector<PieceId> ids;
  BasicWords scratch;
  encode(text, ids, scratch);
  return ids;
}

std::vector<PieceId> WordPiece::encode_marked(std::string_view text, std::size_t max_pieces_in_all) const {
  std::vector<PieceId> ids = encode(text);
  ids.resize(std::min(ids.size(), std::max<std::size_t>(max_pieces_in_all, 2) - 2));
  ids.insert(ids.begin(), table_->class_marker);
  ids.push_back(table_->separator);
  return ids;
}

std::size_t WordPiece::size() const { return table_->pieces.size(); }
std::string_view WordPiece::piece(PieceId id) const { return table_->pieces[static_cast<std::size_t>(id)]; }
PieceId WordPiece::padding() const { return table_->padding; }
PieceId WordPiece::unknown() const { return table_->unknown; }
PieceId WordPiece::class_marker() const { return table_->class_marker; }
PieceId WordPiece::separator() const { return table_->separator; }
const WordPieceSettings& WordPiece::settings() const { return table_->settings; }

// Where a WordPiece tokenizer's vocabulary and casing come from.
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

}  // namespace sotto::text
