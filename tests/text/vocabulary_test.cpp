#include "text/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/binary_file.h"
#include "base/thread_pool.h"

namespace sotto::text {
namespace {

WordCounts small_counts() {
  WordCounts counts;
  counts.add("pear", 2);
  counts.add("apple", 5);
  counts.add("fig", 2);
  counts.add("åre");
  return counts;
}

// A fresh directory that vanishes with the test.
class VocabularyFile : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ =
        fs::path(::testing::TempDir()) /
        ("sotto_vocabulary_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) +
         std::to_string(getpid()));
    fs::create_directories(directory_);
    path_ = directory_ / "vocabulary.sotto";
  }
  void TearDown() override { fs::remove_all(directory_); }

  void write(const std::vector<std::uint64_t>& offsets, std::string_view bytes,
             const std::vector<std::uint64_t>& counts) {
    auto file = BinaryFileWriter::create(path_, "vocabulary", 1);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->add("offsets", offsets));
    ASSERT_TRUE(file->add("bytes", std::span<const char>(bytes)));
    ASSERT_TRUE(file->add("counts", counts));
    ASSERT_TRUE(file->commit());
  }

  fs::path directory_, path_;
};

TEST(Vocabulary, NumbersWordsByCountThenByBytes) {
  const auto vocabulary = Vocabulary::build(small_counts());
  EXPECT_EQ(vocabulary.size(), 6U);
  EXPECT_EQ(vocabulary.id("apple"), 2);
  EXPECT_EQ(vocabulary.id("fig"), 3);
  EXPECT_EQ(vocabulary.id("pear"), 4);
  EXPECT_EQ(vocabulary.id("åre"), 5);
  EXPECT_EQ(vocabulary.word(4), "pear");
  EXPECT_EQ(vocabulary.count(2), 5U);
}

TEST(Vocabulary, UnknownAndEmptyWordsShareOneNumber) {
  const auto vocabulary = Vocabulary::build(small_counts());
  EXPECT_EQ(vocabulary.id("plum"), Vocabulary::unknown);
  EXPECT_EQ(vocabulary.id(""), Vocabulary::unknown);
  EXPECT_EQ(vocabulary.word(Vocabulary::padding), "");
  EXPECT_EQ(vocabulary.word(Vocabulary::unknown), "");
  EXPECT_EQ(vocabulary.count(Vocabulary::unknown), 0U);
}

TEST(Vocabulary, DropsRareWordsAndKeepsTheMostFrequent) {
  EXPECT_EQ(Vocabulary::build(small_counts(), {.min_count = 2}).size(), 5U);
  const auto two = Vocabulary::build(small_counts(), {.max_size = 2});
  EXPECT_EQ(two.size(), 4U);
  EXPECT_EQ(two.id("fig"), 3);
  EXPECT_EQ(two.id("pear"), Vocabulary::unknown);
  EXPECT_EQ(Vocabulary::build(WordCounts()).size(), 2U);
}

TEST(Vocabulary, StaysValidWhenMoved) {
  auto original = Vocabulary::build(small_counts());
  const Vocabulary moved = std::move(original);
  EXPECT_EQ(moved.id("pear"), 4);
  EXPECT_EQ(moved.word(4), "pear");
}

TEST(WordCounts, OfManyTextsDoNotDependOnThreads) {
  std::vector<std::string> texts;
  texts.reserve(20'000);
  for (int i = 0; i < 20'000; ++i)
    texts.push_back("Word" + std::to_string(i % 97) + " and " + std::to_string(i % 13));
  const TextAt text = [&](std::size_t i) { return std::string_view(texts[i]); };
  const int threads = thread_count();
  set_thread_count(1);
  const auto serial = count_words(texts.size(), text, WordTokenizer());
  set_thread_count(4);
  const auto parallel = count_words(texts.size(), text, WordTokenizer());
  set_thread_count(threads);
  EXPECT_EQ(serial.by_frequency(), parallel.by_frequency());
  EXPECT_EQ(serial.count("and"), 20'000U);
  EXPECT_EQ(serial.size(), 97U + 13U + 1U);
}

TEST_F(VocabularyFile, ReadsBackWhatWasSaved) {
  const auto vocabulary = Vocabulary::build(small_counts());
  ASSERT_TRUE(vocabulary.save(path_));
  const auto loaded = Vocabulary::load(path_);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->size(), vocabulary.size());
  for (WordId id = 0; id < static_cast<WordId>(vocabulary.size()); ++id) {
    EXPECT_EQ(loaded->word(id), vocabulary.word(id));
    EXPECT_EQ(loaded->count(id), vocabulary.count(id));
  }
  EXPECT_EQ(loaded->id("åre"), 5);
}

TEST_F(VocabularyFile, AnEmptyVocabularyReadsBack) {
  ASSERT_TRUE(Vocabulary::build(WordCounts()).save(path_));
  const auto loaded = Vocabulary::load(path_);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->size(), 2U);
}

TEST_F(VocabularyFile, RefusesInconsistentContent) {
  const auto refused = [&](const std::vector<std::uint64_t>& offsets, std::string_view bytes,
                           const std::vector<std::uint64_t>& counts) {
    write(offsets, bytes, counts);
    const auto loaded = Vocabulary::load(path_);
    EXPECT_FALSE(loaded);
    return loaded ? std::string() : loaded.error().message;
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(refused({0, 1}, "ab", {1}), HasSubstr("span"));
  EXPECT_THAT(refused({1, 2}, "ab", {1}), HasSubstr("span"));
  EXPECT_THAT(refused({0, 1}, "a", {1, 2}), HasSubstr("number"));
  EXPECT_THAT(refused({}, "", {}), HasSubstr("number"));
  EXPECT_THAT(refused({0, 1, 1, 2}, "ab", {1, 1, 1}), HasSubstr("empty"));
  EXPECT_THAT(refused({0, std::uint64_t{1} << 60, 2}, "ab", {1, 1}), HasSubstr("empty"));
  EXPECT_THAT(refused({0, 1, 2}, "aa", {1, 1}), HasSubstr("twice"));
  EXPECT_THAT(refused({0, 1}, "\xFF", {1}), HasSubstr("UTF-8"));
}

TEST_F(VocabularyFile, RefusesCutsAndFlippedBytesWithoutCrashing) {
  ASSERT_TRUE(Vocabulary::build(small_counts()).save(path_));
  std::ifstream in(path_, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  const auto load_bytes = [&](const std::string& bytes) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    return Vocabulary::load(path_);
  };
  for (std::size_t length = 0; length < good.size(); length += 7)
    EXPECT_FALSE(load_bytes(good.substr(0, length)));
  for (std::size_t i = 0; i < good.size(); i += 3) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x41);
    const auto loaded = load_bytes(bad);
    if (loaded) {  // padding between sections carries nothing
      EXPECT_EQ(loaded->id("pear"), 4);
    }
  }
  EXPECT_FALSE(Vocabulary::load(directory_ / "missing"));
}

}  // namespace
}  // namespace sotto::text
