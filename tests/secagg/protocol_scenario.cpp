#include "secagg/protocol_scenario.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

namespace sotto::secagg::testing_round {

namespace {

using Words = std::vector<std::string>;

Result<double> number(const std::string& word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return bad_input("'{}' is no number", word);
  return value;
}

// Clients are counted from 1 in the text.
std::uint32_t client_in(const std::string& word) {
  const auto value = number(word);
  return value && *value >= 1 ? static_cast<std::uint32_t>(*value) - 1 : 1U << 30;
}

const std::map<std::string, ServerPhase>& steps() {
  static const auto* names = new std::map<std::string, ServerPhase>{{"advertise", ServerPhase::advertising},
                                                                    {"share", ServerPhase::sharing},
                                                                    {"upload", ServerPhase::uploading},
                                                                    {"confirm", ServerPhase::confirming},
                                                                    {"reveal", ServerPhase::unmasking}};
  return *names;
}

std::string join(const Words& words) {
  std::string line;
  for (const auto& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

// Does a line have this form? '#' stands for a client, '@' for a step, anything else for itself.
bool has_form(const Words& words, const Words& form, std::uint32_t clients) {
  return words.size() == form.size() &&
         std::equal(words.begin(), words.end(), form.begin(), [&](const auto& word, const auto& wanted) {
           if (wanted == "#") return client_in(word) < clients;
           if (wanted == "@") return steps().contains(word);
           return word == wanted;
         });
}

// What the lines of a scenario do to the messages of the round.
class Interference {
 public:
  Interference(const Scenario& scenario, Devices& devices, const GroupParameters& group)
      : scenario_(scenario), devices_(devices), group_(group) {
    for (const Words& event : scenario.events) {
      if (event[0] == "replay" && !earlier_) earlier_ = run_round(devices, {.group = group});
    }
  }

  std::vector<Bytes> to_server(std::uint32_t client, ServerPhase phase, const Bytes& original) {
    if (phase == ServerPhase::advertising) {
      if (const auto keys = decode_advertisement(original)) advertised_[client] = keys->keys;
    }
    std::vector<Bytes> messages{original};
    for (const Words& event : scenario_.events) {
      const bool about = event.size() > 1 && client_in(event[1]) == client;
      if (event[0] == "drop" && about && phase >= steps().at(event[3])) return {};
      if (event[0] == "duplicate" && about && phase == steps().at(event[2])) messages.push_back(original);
      if (event[0] == "garbage" && about && phase == steps().at(event[2])) messages = {Bytes(200, 0xa5)};
      if (event[0] == "replay" && about && phase == steps().at(event[2])) {
        messages = {earlier_->sent.at({client, phase})};
      }
      change(event, client, phase, messages[0]);
    }
    return messages;
  }

  std::vector<Bytes> to_client(std::uint32_t client, ServerPhase phase, const Bytes& original) {
    Bytes message = original;
    for (const Words& event : scenario_.events) {
      if (has_form(event, {"inconsistent", "alive", "set", "to", "#"}, group_.clients) &&
          client_in(event[4]) == client) {
        message = with_other_alive_set(client, phase, message);
      }
      if (has_form(event, {"wrong", "keys", "of", "#", "to", "#"}, group_.clients) &&
          client_in(event[5]) == client && phase == ServerPhase::sharing) {
        auto roster = *decode_roster(message, group_.clients);
        for (auto& keys : roster.neighbours) {
          if (keys.client == client_in(event[3])) keys.mask_key[7] ^= 0x10;
        }
        message = encode(roster);
      }
    }
    return {message};
  }

 private:
  void change(const Words& event, std::uint32_t client, ServerPhase phase, Bytes& message) {
    const auto is = [&](const Words& form) { return has_form(event, form, group_.clients); };
    if (phase == ServerPhase::advertising) {
      change_keys(event, client, message);
    } else if (is({"wrong", "length", "#", "upload"}) && client_in(event[2]) == client &&
               phase == ServerPhase::uploading) {
      const auto masked = *decode_masked_vector(message, scenario_.shape);
      const auto shorter = RingVector::zeros(scenario_.shape.entries - 1, scenario_.shape.bits);
      message = *encode_masked(masked.transcript, *shorter, masked.signature);
    } else if (is({"zero", "share", "#"}) && client_in(event[2]) == client &&
               phase == ServerPhase::unmasking) {
      auto revealed = *decode_revealed_shares(message, group_.clients);
      for (auto& share : revealed.shares) share.share = {};
      message = encode(revealed);
    } else if (is({"unreadable", "shares", "#"}) && client_in(event[2]) == client &&
               phase == ServerPhase::sharing) {
      auto dealt = *decode_dealt_shares(message, group_.clients);
      for (auto& share : dealt.shares) share.sealed = {};
      message = encode(devices_.signed_again(client, dealt));
    } else if (is({"misfit", "shares", "of", "#", "to", "#"}) && client_in(event[3]) == client &&
               phase == ServerPhase::sharing) {
      auto dealt = *decode_dealt_shares(message, group_.clients);
      for (auto& share : dealt.shares) {
        if (share.client == client_in(event[5])) share.commitments.self_mask[9] ^= 1;
      }
      message = encode(devices_.signed_again(client, dealt));
    } else if (is({"broken", "promise", "#"}) && client_in(event[2]) == client &&
               phase == ServerPhase::sharing) {
      auto dealt = *decode_dealt_shares(message, group_.clients);
      dealt.self_seed_commitment[0] ^= 1;
      message = encode(dealt);
    } else if (is({"huge", "count", "#"}) && client_in(event[2]) == client && phase == ServerPhase::sharing) {
      // The count of the list of shares stands just before its first item.
      const auto dealt = *decode_dealt_shares(message, group_.clients);
      const auto first = std::search(message.begin(), message.end(), dealt.shares[0].sealed.begin(),
                                     dealt.shares[0].sealed.end());
      std::fill(first - 8, first - 4, std::uint8_t{0xff});
    }
  }

  void change_keys(const Words& event, std::uint32_t client, Bytes& message) {
    const auto is = [&](const Words& form) { return has_form(event, form, group_.clients); };
    auto advertisement = *decode_advertisement(message);
    ClientKeys& keys = advertisement.keys;
    if (is({"forge", "signature", "#"}) && client_in(event[2]) == client) {
      keys.signature[20] ^= 1;
    } else if (is({"equal", "public", "keys", "#", "#"}) && client_in(event[4]) == client) {
      // Signed properly, by its own identity: only the keys are another's.
      keys.channel_key = advertised_.at(client_in(event[3])).channel_key;
      keys.mask_key = advertised_.at(client_in(event[3])).mask_key;
      keys.signature = devices_.identities[client].sign(keys_statement(advertisement.context, keys));
    } else if (is({"swap", "keys", "#", "#"}) && client_in(event[3]) == client) {
      // The later of the two comes with what the earlier one signed.
      keys = advertised_.at(client_in(event[2]));
    } else if (is({"small", "order", "key", "#"}) && client_in(event[3]) == client) {
      keys.mask_key = {};
      keys.signature = devices_.identities[client].sign(keys_statement(advertisement.context, keys));
    }
    message = encode(advertisement);
  }

  // Somebody else's vector is said not to have arrived.
  Bytes with_other_alive_set(std::uint32_t client, ServerPhase phase, const Bytes& message) {
    const std::uint32_t other = client == 0 ? 1 : 0;
    if (phase == ServerPhase::confirming) {
      auto arrivals = *decode_arrivals(message, group_.clients);
      arrivals.alive.erase(other);
      std::erase_if(arrivals.signatures, [&](const auto& signature) { return signature.client == other; });
      return encode(arrivals);
    }
    if (phase == ServerPhase::unmasking) {
      auto request = *decode_unmask_request(message, group_.clients);
      request.alive.erase(other);
      return encode(request);
    }
    return message;
  }

  const Scenario& scenario_;
  Devices& devices_;
  GroupParameters group_;
  std::optional<Outcome> earlier_;
  std::map<std::uint32_t, ClientKeys> advertised_;
};

std::string members(const MemberSet& set) {
  std::string text;
  for (std::uint32_t client = 0; client < set.clients(); ++client) {
    if (set.contains(client)) text += fmt::format(" {}", client + 1);
  }
  return text;
}

std::optional<std::string> complaint(const Words& expected, const Outcome& outcome, const Devices& devices) {
  const std::uint32_t clients = devices.size();
  if (expected.size() > 2 && expected[0] == "sum" && expected[1] == "of") {
    MemberSet wanted(clients);
    for (std::size_t i = 2; i < expected.size(); ++i) {
      if (client_in(expected[i]) >= clients) return fmt::format("there is no client {}", expected[i]);
      wanted.insert(client_in(expected[i]));
    }
    if (outcome.phase != ServerPhase::done) return "there is no sum: " + outcome.failure;
    if (outcome.summed != wanted) return "the sum is of" + members(outcome.summed);
    if (outcome.sum != devices.plain_sum(wanted)) return "the sum is wrong";
    return std::nullopt;
  }
  if (has_form(expected, {"round", "fails"}, clients)) {
    return outcome.phase == ServerPhase::failed ? std::nullopt : std::optional("the round succeeded");
  }
  if (has_form(expected, {"client", "#", "aborts"}, clients)) {
    const bool aborted = outcome.aborted.contains(client_in(expected[1]));
    return aborted ? std::nullopt : std::optional("it did not abort");
  }
  if (has_form(expected, {"client", "#", "is", "removed"}, clients)) {
    const bool removed = outcome.removed.contains(client_in(expected[1]));
    return removed ? std::nullopt : std::optional("it was not removed");
  }
  if (has_form(expected, {"client", "#", "is", "guilty"}, clients)) {
    const bool guilty = outcome.guilty.contains(client_in(expected[1])) && outcome.guilty.count() == 1;
    return guilty ? std::nullopt : std::optional("guilty are:" + members(outcome.guilty));
  }
  if (has_form(expected, {"nobody", "is", "guilty"}, clients)) {
    return outcome.guilty.count() == 0 ? std::nullopt
                                       : std::optional("guilty are:" + members(outcome.guilty));
  }
  if (has_form(expected, {"nobody", "is", "removed"}, clients)) {
    return outcome.removed.empty() ? std::nullopt : std::optional(outcome.removed.begin()->second);
  }
  if (has_form(expected, {"nobody", "aborts"}, clients)) {
    return outcome.aborted.empty()
               ? std::nullopt
               : std::optional("client " + std::to_string(outcome.aborted.begin()->first + 1) +
                               " did: " + outcome.aborted.begin()->second);
  }
  return "unknown expectation";
}

bool is_event(const Words& words, std::uint32_t clients) {
  static const auto* forms = new std::vector<Words>{{"drop", "#", "before", "@"},
                                                    {"duplicate", "#", "@"},
                                                    {"garbage", "#", "@"},
                                                    {"replay", "#", "@", "from", "another", "round"},
                                                    {"swap", "keys", "#", "#"},
                                                    {"forge", "signature", "#"},
                                                    {"equal", "public", "keys", "#", "#"},
                                                    {"small", "order", "key", "#"},
                                                    {"wrong", "length", "#", "upload"},
                                                    {"zero", "share", "#"},
                                                    {"unreadable", "shares", "#"},
                                                    {"misfit", "shares", "of", "#", "to", "#"},
                                                    {"broken", "promise", "#"},
                                                    {"huge", "count", "#"},
                                                    {"inconsistent", "alive", "set", "to", "#"},
                                                    {"wrong", "keys", "of", "#", "to", "#"}};
  return std::any_of(forms->begin(), forms->end(),
                     [&](const Words& form) { return has_form(words, form, clients); });
}

// group 8 corrupted 0.1 dropping 0.25 server active
Result<ThreatModel> read_group(const Words& words) {
  if (words.size() != 8 || words[2] != "corrupted" || words[4] != "dropping" || words[6] != "server") {
    return bad_input("write: group 8 corrupted 0.1 dropping 0.25 server semi-honest");
  }
  SOTTO_TRY(const double clients, number(words[1]));
  SOTTO_TRY(const double corrupted, number(words[3]));
  SOTTO_TRY(const double dropping, number(words[5]));
  if (words[7] != "active" && words[7] != "semi-honest")
    return bad_input("a server is active or semi-honest");
  return ThreatModel{.clients = static_cast<std::uint32_t>(clients),
                     .corrupted = corrupted,
                     .dropping = dropping,
                     .server = words[7] == "active" ? ServerModel::active : ServerModel::semi_honest};
}

}  // namespace

Result<Scenario> read_scenario(const std::string& text) {
  Scenario scenario;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line.substr(0, line.find('#')));
    Words words;
    for (std::string word; fields >> word;) words.push_back(word);
    if (words.empty()) continue;
    if (words[0] == "group") {
      SOTTO_TRY(scenario.threat, read_group(words));
    } else if (words[0] == "expect") {
      scenario.expectations.emplace_back(words.begin() + 1, words.end());
    } else if (is_event(words, scenario.threat.clients)) {
      scenario.events.push_back(words);
    } else {
      return bad_input("'{}' is not a line of a scenario: see README.txt", line);
    }
  }
  if (scenario.threat.clients == 0) return bad_input("no group");
  if (scenario.expectations.empty()) return bad_input("nothing is expected");
  return scenario;
}

std::vector<std::string> play(const Scenario& scenario) {
  const auto group = find_parameters(scenario.threat);
  if (!group) return {group.error().message};
  Devices devices(scenario.threat.clients, scenario.shape, 77);
  Interference interference(scenario, devices, *group);
  const auto outcome = run_round(
      devices,
      {.group = *group,
       .to_server = [&](auto client, auto phase,
                        const Bytes& message) { return interference.to_server(client, phase, message); },
       .to_client = [&](auto client, auto phase,
                        const Bytes& message) { return interference.to_client(client, phase, message); }});
  std::vector<std::string> complaints;
  for (const Words& expected : scenario.expectations) {
    if (const auto wrong = complaint(expected, outcome, devices)) {
      complaints.push_back(fmt::format("expect {}: {}", join(expected), *wrong));
    }
  }
  return complaints;
}

}  // namespace sotto::secagg::testing_round
