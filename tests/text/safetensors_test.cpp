#include "text/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "test_paths.h"
#include "text/write_safetensors.h"

namespace sotto::text {
namespace {

std::string container(std::string_view header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string bytes(reinterpret_cast<const char*>(&length), 8);
  bytes.append(header);
  for (std::size_t i = 0; i < data_bytes; ++i) bytes.push_back(static_cast<char>(i));
  return bytes;
}

Result<TensorViews> parse(const std::string& bytes) {
  return parse_safetensors(std::as_bytes(std::span(bytes)));
}

void expect_refused(const std::string& bytes, std::string_view reason) {
  const auto views = parse(bytes);
  ASSERT_FALSE(views) << reason;
  EXPECT_EQ(views.error().kind, ErrorKind::bad_input);
  EXPECT_NE(views.error().message.find(reason), std::string::npos) << views.error().message;
}

TEST(Safetensors, ReadsNamesTypesShapesAndBytes) {
  const std::string bytes = container(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"BF16","shape":[2,1],"data_offsets":[8,12]},)"
      R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"none":{"dtype":"I64","shape":[0,7],"data_offsets":[12,12]},)"
      R"("one":{"dtype":"U8","shape":[],"data_offsets":[12,13]}}   )",
      13);
  const auto views = parse(bytes);
  ASSERT_TRUE(views) << views.error().message;
  ASSERT_EQ(views->size(), 4U);
  const TensorView& b = views->at("b");
  EXPECT_EQ(b.type, TensorType::bf16);
  EXPECT_EQ(b.shape, (std::vector<std::uint64_t>{2, 1}));
  ASSERT_EQ(b.bytes.size(), 4U);
  EXPECT_EQ(b.bytes[0], std::byte{8});
  EXPECT_TRUE(views->at("none").bytes.empty());
  EXPECT_EQ(views->at("one").bytes.size(), 1U);
}

TEST(Safetensors, RefusesCutFilesAndWildHeaderLengths) {
  const std::string good = container(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", 3);
  ASSERT_TRUE(parse(good));
  for (std::size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(parse(good.substr(0, size))) << size;
  expect_refused(good.substr(0, 7), "too few");
  expect_refused(good.substr(0, 20), "the file is cut");
  std::string huge = good;
  for (int i = 0; i < 8; ++i) huge[static_cast<std::size_t>(i)] = '\xFF';
  expect_refused(huge, "is this a safetensors file");
}

TEST(Safetensors, RefusesOverlapsGapsAndBytesOfNobody) {
  const auto two = [](std::string_view a, std::string_view b) {
    return fmt::format(R"({{"a":{{"dtype":"U8","shape":[2],"data_offsets":{}}},)"
                       R"("b":{{"dtype":"U8","shape":[2],"data_offsets":{}}}}})",
                       a, b);
  };
  EXPECT_TRUE(parse(container(two("[2,4]", "[0,2]"), 4)));
  expect_refused(container(two("[0,2]", "[1,3]"), 3), "overlap");
  expect_refused(container(two("[0,2]", "[0,2]"), 2), "overlap");
  expect_refused(container(two("[0,2]", "[3,5]"), 5), "leave a gap");
  expect_refused(container(two("[1,3]", "[3,5]"), 5), "leave a gap");
  expect_refused(container(two("[0,2]", "[2,4]"), 5), "belong to no tensor");
  expect_refused(container(two("[0,2]", "[2,4]"), 3), "outside");
  expect_refused(container(two("[2,0]", "[2,4]"), 4), "outside");
  expect_refused(container("{}", 1), "belong to no tensor");
}

TEST(Safetensors, RefusesShapesThatDoNotFitOrOverflow) {
  const auto one = [](std::string_view type, std::string_view shape) {
    return container(fmt::format(R"({{"a":{{"dtype":"{}","shape":{},"data_offsets":[0,8]}}}})", type, shape),
                     8);
  };
  EXPECT_TRUE(parse(one("F64", "[1]")));
  expect_refused(one("F32", "[3]"), "8 bytes are not what F32 of shape [3] takes");
  expect_refused(one("F32", "[4294967296,4294967296,2]"), "not what");
  expect_refused(one("F32", "[18446744073709551615]"), "not what");
  expect_refused(one("F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2]"), "too many dimensions");
  expect_refused(one("F8_E4M3", "[8]"), "unknown dtype 'F8_E4M3'");
  expect_refused(one("f32", "[2]"), "unknown dtype");
}

TEST(Safetensors, RefusesHeadersOfAnotherForm) {
  const auto refused = [](std::string_view header, std::string_view reason) {
    expect_refused(container(header, 2), reason);
  };
  const std::string a = R"({"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  refused(R"({"a":)" + a + R"(,"a":)" + a + "}", "twice");
  refused(R"({"a":{"dtype":"U8","dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "'dtype' is there twice");
  refused(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2],"x":1}})", "unknown key 'x'");
  refused(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,1,2]}})", "more than two");
  refused(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2]}})", "needs");
  refused(R"({"a":{"dtype":"U8","data_offsets":[0,2]}})", "needs");
  refused(R"({"a":{"dtype":"U8","shape":[-2],"data_offsets":[0,2]}})", "negative");
  refused(R"({"a":{"dtype":"U8","shape":[2.0],"data_offsets":[0,2]}})", "fraction");
  refused(R"({"a":{"dtype":"U8","shape":2,"data_offsets":[0,2]}})", "a number where none belongs");
  refused(R"({"a":{"dtype":"U8","shape":[[2]],"data_offsets":[0,2]}})", "a list where none belongs");
  refused(R"({"a":[]})", "a list where none belongs");
  refused(R"({"a":null})", "null");
  refused(R"({"__metadata__":{"a":1}})", "a number where none belongs");
  refused(R"({"a":)" + a, "not JSON");
  refused(R"({"a":)" + a + "} x", "not JSON");
  refused(" {}", "does not start");
  refused(std::string(100'000, '['), "does not start");
  refused(R"({"a":)" + std::string(1'000'000, '['), "a list where none belongs");
}

TEST(Safetensors, WrittenFilesReadBack) {
  const TempFolder folder;
  const std::vector<float> numbers = {1.5F, -2.0F, 3.25F};
  const std::vector<std::uint16_t> halves = {0x3C00, 0xC000};
  const TensorViews written = {
      {"x.weight", {TensorType::f32, {3, 1}, std::as_bytes(std::span(numbers))}},
      {"\u00E9 \"quoted\"", {TensorType::f16, {2}, std::as_bytes(std::span(halves))}}};
  const auto status = write_safetensors(folder / "m.safetensors", written);
  ASSERT_TRUE(status) << status.error().message;
  const auto file = SafetensorsFile::open(folder / "m.safetensors");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->tensors().size(), 2U);
  EXPECT_EQ(file->find("absent"), nullptr);
  const TensorView* x = file->find("x.weight");
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->shape, (std::vector<std::uint64_t>{3, 1}));
  ASSERT_EQ(x->bytes.size(), 12U);
  EXPECT_EQ(std::memcmp(x->bytes.data(), numbers.data(), 12), 0);
}

TEST(Safetensors, NamesTheFileThatIsWrong) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "m.safetensors", "short"));
  const auto file = SafetensorsFile::open(folder / "m.safetensors");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("m.safetensors: "), std::string::npos);
  EXPECT_FALSE(SafetensorsFile::open(folder / "absent"));
}

}  // namespace
}  // namespace sotto::text
