#include "text/wordpiece.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "test_paths.h"

namespace sotto::text {
namespace {

using namespace std::string_view_literals;

// Split at spaces.
constexpr std::string_view vocabulary =
    "[PAD] [UNK] [CLS] [SEP] un ##aff ##able runn ##ing want ##ed the cafe caf ##e ##\u00E9 "
    "caf\u00E9 Caf\u00E9 C strasse stra\u00DF ##e2 stra ##\u00DF ##e3 i ##stan ##bul istanbul \u0130 "
    "I ##stanbul \u4E2D \u56FD \u65B0 \u805E \u1112 ##\u1161 ##\u11AB \uD55C ##\uAD6D h ##a ##n a b "
    "##b , . ! ' - # [ ] ` ; $ \u03BF ##\u03B4\u03BF ##\u03C2 ##\u03C3 \u039F ##\u0394 ##\u039F "
    "##\u03A3 \u304B ##\u3099 \u304C \u30BF \U0001F600 \U0001F469 ##\U0001F469 x ##x \u0915 ##\u093E "
    "##\u093F e ##\u0301 \u0301 \u00F1 n \u00BF \u3002 \u201C \u201D \uFB01 ##n2 \uFB01n";

std::vector<std::string> pieces() {
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin < vocabulary.size();) {
    const std::size_t end = std::min(vocabulary.find(' ', begin), vocabulary.size());
    all.emplace_back(vocabulary.substr(begin, end - begin));
    begin = end + 1;
  }
  return all;
}

WordPiece tokenizer(bool lower_case) {
  auto made = WordPiece::create(pieces(), {.lower_case = lower_case});
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

std::string joined(const WordPiece& tokens, std::string_view text) {
  std::string out;
  for (const PieceId id : tokens.encode(text)) out.append(out.empty() ? "" : " ").append(tokens.piece(id));
  return out;
}

struct Golden {
  std::string_view text, uncased, cased;
};

// Made with a Python transcription of BERT's published tokenizer (control characters: Cc and Cf, at most 100
// characters a word), which was first held equal to BasicTokenizer and WordpieceTokenizer of
// transformers 5.22 (legacy, with the same control rule) on 3,000 random strings, uncased; the cased column
// comes from the transcription alone.
constexpr Golden golden[] = {
    {"unaffable running, wanted!"sv, "un ##aff ##able runn ##ing , want ##ed !",
     "un ##aff ##able runn ##ing , want ##ed !"},
    {"UNAFFABLE"sv, "un ##aff ##able", "[UNK]"},
    {"Caf\u00E9 caf\u00E9 CAFE\u0301 cafe\u0301"sv, "cafe cafe cafe cafe",
     "Caf\u00E9 caf\u00E9 [UNK] cafe ##\u0301"},
    {"Stra\u00DFe STRASSE stra\u00DFe"sv, "stra\u00DF ##e strasse stra\u00DF ##e",
     "[UNK] [UNK] stra\u00DF ##e"},
    {"\u0130stanbul ISTANBUL istanbul"sv, "istanbul istanbul istanbul", "\u0130 ##stanbul [UNK] istanbul"},
    {"\u4E2D\u56FD\u65B0\u805E a\u4E2Db"sv, "\u4E2D \u56FD \u65B0 \u805E a \u4E2D b",
     "\u4E2D \u56FD \u65B0 \u805E a \u4E2D b"},
    {"\uD55C\uAD6D \uD55C"sv, "[UNK] \u1112 ##\u1161 ##\u11AB", "\uD55C ##\uAD6D \uD55C"},
    {"a\u00A0b\u3000a\u2003b"sv, "a b a b", "a b a b"},
    {"a\u200Db a\u200Bb a\u00ADb"sv, "a ##b a ##b a ##b", "a ##b a ##b a ##b"},
    {"a\000b\uFFFDb\007b"sv, "a ##b ##b ##b", "a ##b ##b ##b"},
    {"a\tb\012b\015b\u2028b\u2029b\302\205b"sv, "a b b b b b ##b", "a b b b b b ##b"},
    {"\U0001F469\u200D\U0001F469 \U0001F600"sv, "\U0001F469 ##\U0001F469 \U0001F600",
     "\U0001F469 ##\U0001F469 \U0001F600"},
    {"\u0301 a\u0301\u0323 \u0300\u0301"sv, "a", "\u0301 [UNK] [UNK]"},
    {"[CLS] a [SEP]"sv, "[ [UNK] ] a [ [UNK] ]", "[ [UNK] ] a [ [UNK] ]"},
    {"\u039F\u0394\u039F\u03A3 \u039F\u0394\u039F\u03A3' \u03A3 \u039F\u0394\u039F\u03A3b"sv,
     "\u03BF ##\u03B4\u03BF ##\u03C2 \u03BF ##\u03B4\u03BF ##\u03C2 ' [UNK] \u03BF ##\u03B4\u03BF ##\u03C3 "
     "##b",
     "\u039F ##\u0394 ##\u039F ##\u03A3 \u039F ##\u0394 ##\u039F ##\u03A3 ' [UNK] \u039F ##\u0394 ##\u039F "
     "##\u03A3 ##b"},
    {"\u304C \u304B\u3099 \u30BF"sv, "\u304B \u304B \u30BF", "\u304C \u304B ##\u3099 \u30BF"},
    {"\u0915\u093E \u0915\u093F"sv, "\u0915 ##\u093E \u0915 ##\u093F", "\u0915 ##\u093E \u0915 ##\u093F"},
    {"\u00BF\u00F1? \u201Ca\u201D a\u3002b"sv, "\u00BF n [UNK] \u201C a \u201D a \u3002 b",
     "\u00BF \u00F1 [UNK] \u201C a \u201D a \u3002 b"},
    {"\u1FEFa \u037Ea $a`b"sv, "` a ; a $ a ` b", "[UNK] [UNK] a $ a ` b"},
    {"\uE000a"sv, "[UNK]", "[UNK]"},
    {"a\u0378b"sv, "[UNK]", "[UNK]"},
    {"\uFB01n"sv, "\uFB01n", "\uFB01n"},
    {""sv, "", ""},
    {"   \t "sv, "", ""},
    {"\u202Ea\u2066b"sv, "a ##b", "a ##b"},
    {"a\uFEFFb"sv, "a ##b", "a ##b"},
};

TEST(WordPiece, CutsAwkwardTextAsThePublishedAlgorithmDoes) {
  const WordPiece uncased = tokenizer(true), cased = tokenizer(false);
  for (const Golden& row : golden) {
    EXPECT_EQ(joined(uncased, row.text), row.uncased) << "uncased: " << row.text;
    EXPECT_EQ(joined(cased, row.text), row.cased) << "cased: " << row.text;
  }
}

TEST(WordPiece, ReadsAWordOfMoreThanAHundredCharactersAsUnknown) {
  const WordPiece tokens = tokenizer(true);
  EXPECT_EQ(tokens.encode(std::string(100, 'x')).size(), 100U);
  EXPECT_EQ(tokens.encode(std::string(101, 'x')), std::vector<PieceId>{tokens.unknown()});
}

TEST(WordPiece, CountsCharactersNotBytes) {
  const WordPiece tokens = tokenizer(false);
  std::string faces;
  for (int i = 0; i < 100; ++i) faces += "\U0001F469";
  EXPECT_EQ(tokens.encode(faces).size(), 100U);
}

TEST(WordPiece, BrokenUtf8VanishesWithoutCuttingTheWord) {
  const WordPiece tokens = tokenizer(true);
  EXPECT_EQ(joined(tokens,
                   "a\xFF\xC3"
                   "b \xE4\xB8"),
            "a ##b");
}

TEST(WordPiece, TextCannotForgeAMarker) {
  const WordPiece tokens = tokenizer(false);
  for (const PieceId id : tokens.encode("[CLS] [SEP] [PAD]")) {
    EXPECT_NE(id, tokens.class_marker());
    EXPECT_NE(id, tokens.separator());
    EXPECT_NE(id, tokens.padding());
  }
}

TEST(WordPiece, MarksBothEndsAndCutsBetweenThem) {
  const WordPiece tokens = tokenizer(true);
  const auto all = tokens.encode("unaffable a b");
  const auto marked = tokens.encode_marked("unaffable a b", 4);
  ASSERT_EQ(marked.size(), 4U);
  EXPECT_EQ(marked.front(), tokens.class_marker());
  EXPECT_EQ(marked[1], all[0]);
  EXPECT_EQ(marked[2], all[1]);
  EXPECT_EQ(marked.back(), tokens.separator());
  EXPECT_EQ(tokens.encode_marked("", 30).size(), 2U);
  EXPECT_EQ(tokens.encode_marked("a", 0).size(), 2U);
}

void expect_refused(const std::vector<std::string>& list, std::string_view reason) {
  const auto made = WordPiece::create(list);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find(reason), std::string::npos) << made.error().message;
}

TEST(WordPiece, RefusesVocabulariesThatCannotWork) {
  expect_refused({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "a"},
                 "line 6: the piece 'a' is on line 5 already");
  expect_refused({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "##a", "##a"}, "line 6");
  expect_refused({"[PAD]", "[UNK]", "[CLS]", "[SEP]", ""}, "line 5: an empty piece");
  expect_refused({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "\xFF"}, "line 5: not UTF-8");
  expect_refused({"[PAD]", "[UNK]", "[CLS]", "[SEP]", std::string(5000, 'a')}, "5000 bytes");
  for (const std::string absent : {"[PAD]", "[UNK]", "[CLS]", "[SEP]"}) {
    std::vector<std::string> rest = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"};
    std::erase(rest, absent);
    expect_refused(rest, absent);
  }
}

TEST(WordPiece, FolderTellsTheCasing) {
  const TempFolder folder;
  const auto casing = [&]() -> Result<bool> {
    SOTTO_TRY(const auto tokens, WordPiece::load_folder(folder.path()));
    return tokens.settings().lower_case;
  };
  EXPECT_FALSE(casing());
  ASSERT_TRUE(write_file_atomically(folder / "vocab.txt", "[PAD]\n[UNK]\r\n[CLS]\n[SEP]\nabc\n"));
  EXPECT_EQ(casing().value(), true);
  ASSERT_TRUE(write_file_atomically(folder / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nabc\nAbc"));
  EXPECT_EQ(casing().value(), false);
  ASSERT_TRUE(write_file_atomically(folder / "tokenizer_config.json", R"({"do_lower_case": true})"));
  EXPECT_EQ(casing().value(), true);
  ASSERT_TRUE(write_file_atomically(folder / "tokenizer_config.json", R"({"do_lower_case": 1})"));
  EXPECT_FALSE(casing());
  ASSERT_TRUE(write_file_atomically(folder / "tokenizer_config.json", "[[["));
  EXPECT_FALSE(casing());
}

// Numbers by the same transcription with the vocabulary of bert-base-uncased, which many checkpoints share.
TEST(WordPiece, NumbersPiecesOfARealVocabulary) {
  const char* folder = std::getenv("SOTTO_BERT");
  if (folder == nullptr) GTEST_SKIP() << "SOTTO_BERT names no checkpoint folder";
  const auto tokens = WordPiece::load_folder(folder);
  ASSERT_TRUE(tokens) << tokens.error().message;
  if (tokens->size() != 30522 || !tokens->settings().lower_case)
    GTEST_SKIP() << "not the vocabulary of bert-base-uncased";
  EXPECT_EQ(tokens->encode(
                "Prime Minister's na\u00EFve plan: cut taxes by 3.5% \u2014 \u201Cabsurd\u201D, critics say"),
            (std::vector<PieceId>{3539, 2704, 1005, 1055, 15743, 2933,  1024, 3013, 7773, 2011, 1017,
                                  1012, 1019, 1003, 1517, 1523,  18691, 1524, 1010, 4401, 2360}));
  EXPECT_EQ(tokens->encode("Z\u00FCrich's Stra\u00DFenbahn & \u5317\u4EAC Olympics\u2026 \u0130stanbul, "
                           "\u039F\u0394\u039F\u03A3"),
            (std::vector<PieceId>{10204, 1005, 1055, 2358, 27807, 27698, 4430, 2078, 1004, 1781, 1755, 3783,
                                  1529, 9960, 1010, 1169, 29722, 15297}));
  EXPECT_EQ(tokens->encode("\uD55C\uAD6D \uB274\uC2A4 \u304C \U0001F600 e\u0301\u200Dx\u00ADunaffable"),
            (std::vector<PieceId>{1469, 30006, 30021, 29991, 30014, 30020, 1456, 30016, 29997, 30017, 1651,
                                  100, 4654, 9521, 20961, 3468}));
}

}  // namespace
}  // namespace sotto::text
