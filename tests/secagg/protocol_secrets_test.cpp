// Secrets leave memory on every way out of a round.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory_resource>
#include <new>

#include "secagg/protocol_harness.h"

namespace sotto::secagg::testing_round {
namespace {

// Looks at every block of memory as it is given back: all of it must be zero by then, and must not have been
// while in use.
class WatchedMemory final : public std::pmr::memory_resource {
 public:
  bool holds_secrets() const {
    return std::any_of(live_.begin(), live_.end(), [](const auto& block) { return !is_zero(block); });
  }
  std::size_t live() const { return live_.size(); }
  std::size_t returned() const { return returned_; }
  std::size_t returned_dirty() const { return returned_dirty_; }

 private:
  using Block = std::pair<void*, std::size_t>;
  static bool is_zero(const Block& block) {
    const auto* bytes = static_cast<const unsigned char*>(block.first);
    return std::all_of(bytes, bytes + block.second, [](unsigned char byte) { return byte == 0; });
  }
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* const memory = ::operator new (bytes, std::align_val_t{alignment});
    std::memset(memory, 0, bytes);  // what was there before is not ours
    live_.emplace_back(memory, bytes);
    return memory;
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    ++returned_;
    returned_dirty_ += !is_zero({memory, bytes});
    std::erase(live_, Block{memory, bytes});
    ::operator delete (memory, std::align_val_t{alignment});
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::vector<Block> live_;
  std::size_t returned_ = 0, returned_dirty_ = 0;
};

// One watched client among unwatched ones, brought to the point where it waits for the message of `until`.
class WatchedClient {
 public:
  explicit WatchedClient(ServerPhase until) : devices_(4, {40, 16}, 31) {
    const auto group =
        find_parameters({.clients = 4, .corrupted = 0, .dropping = 0, .server = ServerModel::active});
    server_.emplace(
        *SecAggServer::create(*group, devices_.shape, any_order_hash, devices_.registry, devices_.random));
    const auto policy = policy_for(*group, devices_.shape);
    for (std::uint32_t i = 0; i < 4; ++i) {
      clients_.push_back(*SecAggClient::join(*server_->message_for(i), policy, devices_.identities[i],
                                             devices_.registry,
                                             privacy::DeviceRandom::simulated(devices_.random),
                                             i == 0 ? &memory : std::pmr::get_default_resource()));
    }
    while (server_->phase() != until) {
      for (std::uint32_t i = 0; i < 4; ++i) {
        const auto reply = step(i, server_->phase(), *server_->message_for(i));
        EXPECT_TRUE(reply) << reply.error().message;
        EXPECT_TRUE(server_->receive(i, *reply));
      }
      EXPECT_TRUE(server_->close_phase());
    }
  }

  Result<Bytes> step(std::uint32_t i, ServerPhase phase, ByteView message) {
    return answer(clients_[i], phase, message, devices_.inputs[i], devices_.shape.bits);
  }
  Bytes next_message() const { return *server_->message_for(0); }
  SecAggClient& client() { return clients_[0]; }
  void destroy_clients() { clients_.clear(); }

  WatchedMemory memory;

 private:
  Devices devices_;
  std::optional<SecAggServer> server_;
  std::vector<SecAggClient> clients_;
};

void expect_wiped(const WatchedClient& watched) {
  EXPECT_EQ(watched.memory.live(), 0U);
  EXPECT_GE(watched.memory.returned(), 1U);
  EXPECT_EQ(watched.memory.returned_dirty(), 0U);
}

TEST(Secrets, AreThereUntilTheEnd) {
  for (const ServerPhase phase : phases) {
    const WatchedClient watched(phase);
    EXPECT_TRUE(watched.memory.holds_secrets()) << name_of(phase);
  }
}

TEST(Secrets, AreWipedAfterTheLastStep) {
  WatchedClient watched(ServerPhase::unmasking);
  ASSERT_TRUE(watched.step(0, ServerPhase::unmasking, watched.next_message()));
  EXPECT_EQ(watched.client().stage(), ClientStage::done);
  expect_wiped(watched);
}

TEST(Secrets, AreWipedByAbortInEveryPhase) {
  for (const ServerPhase phase : phases) {
    WatchedClient watched(phase);
    watched.client().abort();
    expect_wiped(watched);
  }
}

TEST(Secrets, AreWipedByDestructionInEveryPhase) {
  for (const ServerPhase phase : phases) {
    WatchedClient watched(phase);
    watched.destroy_clients();
    expect_wiped(watched);
  }
}

TEST(Secrets, AreWipedByAWrongMessageInEveryPhase) {
  for (const ServerPhase phase : phases) {
    if (phase == ServerPhase::advertising) continue;  // nothing is received before the keys go out
    for (const std::size_t flipped : {std::size_t{0}, std::size_t{30}, std::size_t{60}}) {
      WatchedClient watched(phase);
      Bytes message = watched.next_message();
      message[message.size() - 1 - flipped] ^= 0x40;
      if (!watched.step(0, phase, message)) {
        EXPECT_EQ(watched.client().stage(), ClientStage::aborted);
        expect_wiped(watched);
      }
      WatchedClient garbage(phase);
      EXPECT_FALSE(garbage.step(0, phase, Bytes(100, 7)));
      expect_wiped(garbage);
    }
  }
}

TEST(Secrets, AreWipedByAStepOutOfOrder) {
  for (const ServerPhase phase : phases) {
    for (const ServerPhase called : phases) {
      if (called == phase) continue;
      WatchedClient watched(phase);
      const auto reply = watched.step(0, called, watched.next_message());
      ASSERT_FALSE(reply);
      EXPECT_EQ(watched.client().stage(), ClientStage::aborted);
      expect_wiped(watched);
    }
  }
}

TEST(Secrets, MoveWithTheClientAndLeaveNothingBehind) {
  WatchedClient watched(ServerPhase::uploading);
  {
    const SecAggClient moved = std::move(watched.client());
    EXPECT_TRUE(watched.memory.holds_secrets());
  }
  expect_wiped(watched);
}

TEST(SecretBytes, AreZeroAfterDestructionMoveAndAssignment) {
  alignas(Key) std::array<unsigned char, sizeof(Key)> place{};
  SeededRandom random(1, Purpose::test);
  const auto is_zero = [](std::span<const unsigned char> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == 0; });
  };
  auto* key = new (place.data()) Key(Key::random(privacy::DeviceRandom::simulated(random)));
  EXPECT_FALSE(is_zero(place));
  Key target = std::move(*key);
  EXPECT_TRUE(is_zero(place));
  EXPECT_FALSE(is_zero(target.view()));
  *key = std::move(target);
  EXPECT_FALSE(is_zero(place));
  key->~Key();
  EXPECT_TRUE(is_zero(place));
  static_assert(!std::is_copy_constructible_v<Key> && !std::is_copy_assignable_v<Key>);
}

}  // namespace
}  // namespace sotto::secagg::testing_round
