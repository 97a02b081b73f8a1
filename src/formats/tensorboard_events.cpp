#include "formats/tensorboard_events.h"

#include <array>
#include <cstring>

#include "formats/protobuf_writer.h"

namespace sotto::formats {

namespace {

// Numbers of the fields in event.proto and summary.proto.
constexpr unsigned wall_time = 1, step_field = 2, file_version = 3, summary = 5;
constexpr unsigned value_field = 1, tag_field = 1, simple_value = 2;

void append_record(std::string& file, std::string_view message) {
  const auto put = [&file](auto number) {
    char raw[sizeof number];
    std::memcpy(raw, &number, sizeof number);
    file.append(raw, sizeof number);
    return std::string(raw, sizeof number);
  };
  const std::string length = put(static_cast<std::uint64_t>(message.size()));
  put(masked_crc32c(length));
  file.append(message);
  put(masked_crc32c(message));
}

}  // namespace

std::uint32_t masked_crc32c(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t byte = 0; byte < made.size(); ++byte) {
      std::uint32_t rest = byte;
      for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? 0x82F63B78U : 0U);
      made[byte] = rest;
    }
    return made;
  }();
  std::uint32_t sum = ~0U;
  for (const char byte : bytes) sum = table[(sum ^ static_cast<unsigned char>(byte)) & 0xFFU] ^ (sum >> 8U);
  sum = ~sum;
  return ((sum >> 15U) | (sum << 17U)) + 0xA282EAD8U;
}

std::string tensorboard_file(const std::vector<ScalarStep>& steps) {
  std::string file;
  const double first = steps.empty() ? 0 : steps.front().wall_seconds;
  append_record(file,
                ProtobufMessage().add_double(wall_time, first).add(file_version, "brain.Event:2").bytes());
  for (const ScalarStep& step : steps) {
    ProtobufMessage values;
    for (const auto& [tag, value] : step.values)
      values.add(value_field,
                 ProtobufMessage().add(tag_field, tag).add_float(simple_value, static_cast<float>(value)));
    append_record(file, ProtobufMessage()
                            .add_double(wall_time, step.wall_seconds)
                            .add(step_field, step.step)
                            .add(summary, values)
                            .bytes());
  }
  return file;
}

}  // namespace sotto::formats
