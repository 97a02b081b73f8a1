// Whose connections make room for whom when an address, or the server, has all that there may be.

#include <gmock/gmock.h>

#include "raw_socket.h"
#include "test_server.h"

namespace sotto::net {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view hello = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr std::string_view last_hello = "GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

// No connection is closed because of time.
HttpServerSettings patient() {
  HttpServerSettings settings;
  settings.read_seconds = settings.idle_seconds = 0;
  return settings;
}

std::string answer_on(RawSocket& socket) {
  socket.send(hello);
  return socket.read_until("\"hello\"");
}

std::uint64_t shed(TestServer& test) {
  return test.metrics.counter("sotto_http_shed_connections_total", "").value();
}

TEST(HttpRoom, AnAddressThatHasItsShareMakesRoomForItself) {
  HttpServerSettings settings = patient();
  settings.max_connections_per_address = 3;
  TestServer test(settings);
  // One after another, so that it is known who waits longest.
  RawSocket idlest(test.port()), second(test.port()), third(test.port());
  for (RawSocket* socket : {&idlest, &second, &third}) ASSERT_THAT(answer_on(*socket), HasSubstr("200 OK"));
  RawSocket fourth(test.port());
  EXPECT_THAT(answer_on(fourth), HasSubstr("200 OK"));
  EXPECT_EQ(idlest.read_all(), "");
  EXPECT_EQ(shed(test), 1U);
  for (RawSocket* socket : {&second, &third, &fourth}) EXPECT_THAT(answer_on(*socket), HasSubstr("200 OK"));
  EXPECT_EQ(shed(test), 1U);
  EXPECT_EQ(test.metrics.counter("sotto_http_refused_connections_total", "").value(), 0U);
}

TEST(HttpRoom, AnAddressThatHasItsShareTakesNothingFromOthers) {
  HttpServerSettings settings = patient();
  settings.max_connections_per_address = 2;
  TestServer test(settings);
  RawSocket neighbour(test.port(), 0, "127.0.0.2");
  ASSERT_THAT(answer_on(neighbour), HasSubstr("200 OK"));
  std::vector<std::unique_ptr<RawSocket>> greedy;
  for (int i = 0; i < 20; ++i) {
    greedy.push_back(std::make_unique<RawSocket>(test.port()));
    EXPECT_THAT(answer_on(*greedy.back()), HasSubstr("200 OK"));
  }
  EXPECT_EQ(shed(test), 18U);
  EXPECT_THAT(answer_on(neighbour), HasSubstr("200 OK")) << "which has waited longer than all of them";
}

TEST(HttpRoom, AConnectionThatItsClientDoesNotCloseMakesRoom) {
  HttpServerSettings settings = patient();
  settings.max_connections = 1;
  TestServer test(settings);
  RawSocket stays(test.port());
  stays.send(last_hello);
  EXPECT_THAT(stays.read_all(), StartsWith("HTTP/1.1 200 "));  // and the server waits for it to close
  RawSocket next(test.port());
  EXPECT_THAT(answer_on(next), StartsWith("HTTP/1.1 200 "));
}

}  // namespace
}  // namespace sotto::net
