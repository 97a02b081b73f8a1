#include "formats/onnx_graph.h"

#include <gtest/gtest.h>

#include "formats/tensorboard_events.h"

namespace sotto::formats {
namespace {

TEST(Protobuf, WritesWhatTheFormatSays) {
  // Field 1, varint 150: the example of the format's own description.
  EXPECT_EQ(ProtobufMessage().add(1, std::uint64_t{150}).bytes(), std::string_view("\x08\x96\x01", 3));
  EXPECT_EQ(ProtobufMessage().add(2, "testing").bytes(), std::string_view("\x12\x07testing", 9));
  EXPECT_EQ(ProtobufMessage().add_float(5, 1.0F).bytes(), std::string_view("\x2d\x00\x00\x80\x3f", 5));
}

TEST(OnnxGraph, NamesEveryValueOnce) {
  OnnxGraph graph("sum");
  const std::string x = graph.input("x", {"rows", 2});
  const std::string y = graph.add("Add", {x, graph.scalar("one", 1)});
  EXPECT_NE(y, graph.add("Mul", {x, y}));
  graph.add("Identity", {y}, {}, "out");
  graph.output("out", {"rows", 2});
  const std::string file = graph.model("adds", {{"key", "text"}});
  for (const char* part : {"sum", "rows", "Add", "Mul", "Identity", "adds", "key", "text", "sotto"})
    EXPECT_NE(file.find(part), std::string::npos) << part;
}

TEST(TensorboardEvents, ChecksumIsMaskedCastagnoli) {
  // CRC-32C of "123456789" is 0xE3069283.
  const std::uint32_t crc = 0xE3069283U;
  EXPECT_EQ(masked_crc32c("123456789"), ((crc >> 15U) | (crc << 17U)) + 0xA282EAD8U);
}

TEST(TensorboardEvents, OneRecordPerStepBehindTheVersion) {
  const std::string file = tensorboard_file({{1, 10, {{"loss", 0.5}}}, {2, 11, {{"loss", 0.25}}}});
  EXPECT_NE(file.find("brain.Event:2"), std::string::npos);
  std::size_t steps = 0;
  for (std::size_t at = file.find("loss"); at != std::string::npos; at = file.find("loss", at + 1)) ++steps;
  EXPECT_EQ(steps, 2U);
}

}  // namespace
}  // namespace sotto::formats
