// What a server and its trainer say to each other, and what neither believes of the other.

#ifdef SOTTO_HAVE_NET

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <limits>

#include "cli/encoder_process.h"

namespace sotto::cli {
namespace {

class EncoderFrames : public ::testing::Test {
 protected:
  EncoderFrames() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0); }
  ~EncoderFrames() override {
    hang_up();
    if (ends[1] >= 0) ::close(ends[1]);
  }
  void hang_up() {
    if (ends[0] >= 0) ::close(ends[0]);
    ends[0] = -1;
  }
  void send_bytes(std::string_view bytes) {
    EXPECT_EQ(::send(ends[0], bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
  }
  int ends[2] = {-1, -1};
};

std::string number(std::uint32_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

TEST_F(EncoderFrames, ArriveAsTheyWereSent) {
  for (const Frame& sent : {Frame{FrameKind::ready, "model-1"}, Frame{FrameKind::articles, ""},
                            Frame{FrameKind::failed, std::string("a\0b", 3)}}) {
    ASSERT_TRUE(send_frame(ends[0], sent));
    const auto got = receive_frame(ends[1]);
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->kind, sent.kind);
    EXPECT_EQ(got->body, sent.body);
  }
}

TEST_F(EncoderFrames, AnEndInTheMiddleIsAnError) {
  send_bytes(number(100) + "vhalf of it");
  hang_up();
  EXPECT_FALSE(receive_frame(ends[1]));
}

TEST_F(EncoderFrames, ALengthBeyondTheLimitIsRefusedBeforeMemoryIsTaken) {
  send_bytes(number(std::numeric_limits<std::uint32_t>::max()) + "v");
  const auto got = receive_frame(ends[1]);
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message.find("4294967295"), std::string::npos) << got.error().message;
}

TEST_F(EncoderFrames, WritingToATrainerThatEndedIsAnErrorAndNoSignal) {
  ::close(ends[1]);
  EXPECT_FALSE(send_frame(ends[0], {FrameKind::articles, std::string(1 << 20, 'x')}));
  ends[1] = -1;
}

// Items of a run without a news model are known by their ids alone.
TEST(EncoderArticles, KeepTheirIdAndFourTexts) {
  std::vector<serving::CatalogueItem> articles(2);
  articles[0].id = "p7";
  articles[0].title = "red fire";
  articles[0].abstract = std::string("with a \0 inside", 15);
  articles[1].category = "warm";
  articles[1].subcategory = "hot";
  const auto back = parse_articles(articles_body(articles));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, articles);
}

TEST(EncoderArticles, AreRefusedWhenCutOffOrTooLong) {
  const std::string body = articles_body(std::vector<serving::CatalogueItem>(3));
  for (std::size_t length = 0; length < body.size(); ++length)
    EXPECT_FALSE(parse_articles(std::string_view(body).substr(0, length))) << length;
  EXPECT_FALSE(parse_articles(body + "x"));
  EXPECT_FALSE(parse_articles(number(most_articles + 1)));
  EXPECT_FALSE(parse_articles(number(1) + number(0xFFFFFFFF) + "short"));
}

TEST(EncoderVectors, KeepEveryBit) {
  const std::vector<std::vector<float>> vectors = {{0.1F, -0.0F, 1e-42F}, {3, 4, 5}};
  const auto back = parse_vectors(vectors_body(vectors));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, vectors);
  EXPECT_TRUE(parse_vectors(vectors_body({}))->empty());
  EXPECT_FALSE(parse_vectors(std::string_view("\0\0\0\0\x08\0\0\0", 8))) << "no vectors have no width";
}

TEST(EncoderVectors, AreRefusedWhenTheirNumberDiffersFromWhatTheySay) {
  const std::string body = vectors_body(std::vector<std::vector<float>>(2, std::vector<float>(3)));
  EXPECT_FALSE(parse_vectors(std::string_view(body).substr(0, body.size() - 1)));
  EXPECT_FALSE(parse_vectors(body + "x"));
  EXPECT_FALSE(parse_vectors(number(0xFFFFFFFF) + number(0xFFFFFFFF)));
  EXPECT_FALSE(parse_vectors(number(1) + number(serving::most_vector_numbers + 1)));
}

}  // namespace
}  // namespace sotto::cli

#endif
