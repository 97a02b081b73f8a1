// Any sequence of check-ins, posts and moments at a coordinator's desk, with any bytes as messages: every
// question has exactly one answer, at the latest when the round is over. Each operation is a byte that says
// what and by whom, and for a post the length of the message that follows.

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string_view>
#include <vector>

#include "../tests/rounds/small_campaign.h"
#include "coordinator/rooms/round_desk.h"
#include "rounds/round_messages.h"

namespace {

using namespace sotto;
using coordinator::DeskAnswer;
using coordinator::RoomTime;

class ForgetfulKeeper final : public coordinator::RoundKeeper {
 public:
  Status begin_unmasking() override { return {}; }
  Status keep_sum(const coordinator::GroupSum&) override { return {}; }
  Status leave_out(const rounds::IdentityKey&) override { return {}; }
  Result<std::set<rounds::IdentityKey>> left_out() override { return std::set<rounds::IdentityKey>(); }
};

struct Questions {
  std::vector<int> answers;  // of each question
  std::map<unsigned, rounds::Digest> rooms;

  coordinator::GiveAnswer ask(unsigned device) {
    answers.push_back(0);
    return [this, device, question = answers.size() - 1](const DeskAnswer& answer) {
      if (++answers[question] > 1) std::abort();
      if (answer.kind != DeskAnswer::Kind::message) return;
      if (const auto place = rounds::decode_group_place(answer.body)) rooms[device] = place->room;
    };
  }
};

rounds::IdentityKey key_of(unsigned device) {
  rounds::IdentityKey key{};
  key.fill(static_cast<std::uint8_t>(device + 1));
  return key;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rounds::CampaignTerms terms = rounds::terms_of(rounds::small_campaign()).value();
  static const auto group = static_cast<unsigned>(terms.plan.settings().devices);
  const rounds::Digest order = rounds::model_hash();
  coordinator::PhasePace pace{std::chrono::seconds(5), std::chrono::seconds(60)};
  ForgetfulKeeper keeper;
  SeededRandom random(1, Purpose::test);
  Questions questions;
  {
    coordinator::RoundDesk desk({order, terms, 2}, pace, keeper, random);
    RoomTime now{0};
    const std::uint8_t* end = data + size;
    while (data < end) {
      const unsigned what = *data >> 6, who = *data & 31U;
      const bool oddly = (*data & 32U) != 0;
      ++data;
      if (what == 0) {
        desk.check_in(key_of(who), oddly ? rounds::Digest{} : order, now, questions.ask(who));
      } else if (what == 1) {  // a whole group
        for (unsigned i = 0; i < group; ++i)
          desk.check_in(key_of((who + i) % 32), order, now, questions.ask((who + i) % 32));
      } else if (what == 2) {
        const std::size_t length =
            data < end ? std::min<std::size_t>(*data, static_cast<std::size_t>(end - data) - 1) : 0;
        if (data < end) ++data;
        const std::string_view message(reinterpret_cast<const char*>(data), length);
        data += length;
        const auto room = questions.rooms.find(oddly ? (who + 1) % 32 : who);
        desk.post(key_of(who), room == questions.rooms.end() ? order : room->second, message, now,
                  questions.ask(who));
      } else {
        now += std::chrono::seconds(oddly ? 21 : who);
        desk.tick(now);
      }
      const coordinator::DeskCounts counts = desk.counts();
      if (counts.checked_in > 32 || counts.groups_open > 2) std::abort();
    }
  }
  for (const int answered : questions.answers)
    if (answered != 1) std::abort();
  return 0;
}
