// A coordinator that asks for more than it may, over real HTTP: whatever it changes in a campaign, an order
// or the log, and with all keys in its hands, every device refuses before it is charged.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/chain_hash.h"
#include "net/http_server.h"
#include "rounds/evaluation.h"
#include "running_deployment.h"

namespace sotto::coordinator {
namespace {

using device::Participation;
using Reason = device::RoundRefusalReason;

// Of which nothing can be had for less: a sum that withstands an active server, and not a byte more than it
// takes.
rounds::Campaign strict_campaign() {
  rounds::Campaign campaign = deployed_campaign(5);
  campaign.server = secagg::ServerModel::active;
  static const std::uint64_t bytes = rounds::terms_of(campaign).value().bytes.up;
  campaign.max_upload_bytes = bytes;
  return campaign;
}

// The same that measures versions, and the same with a second sum that is like the first.
rounds::Campaign measuring_campaign() {
  static const rounds::Campaign campaign =
      rounds::with_evaluation(strict_campaign(), {.every = 5, .epsilon = 4}).value();
  return campaign;
}
rounds::Campaign two_sums_campaign() {
  rounds::Campaign campaign = strict_campaign();
  campaign.second = rounds::SecondSum{campaign.encoding.dimension, false, campaign.encoding.step,
                                      campaign.encoding.noise_multiplier, campaign.bits};
  return campaign;
}

// Everything such a coordinator says about one round.
struct Forgery {
  rounds::Campaign campaign;
  rounds::Identity operator_key = rounds::operator_key(), coordinator = rounds::coordinator_key();
  std::uint64_t witnesses = 0;  // who cosign
  std::function<void(rounds::RoundOrder&)> change_order = [](rounds::RoundOrder&) {};
  std::vector<rounds::LogLeaf> log;

  std::string offer() {
    rounds::OfferMessage made;
    made.campaign = sign_document(rounds::campaign_kind, encode(campaign), operator_key);
    const rounds::Digest hash = rounds::open_campaign(made.campaign).value().hash;
    log = {{rounds::LeafKind::campaign, hash}, {rounds::LeafKind::model, rounds::model_hash()}};
    rounds::MerkleTree tree;
    for (const auto& leaf : log) tree.append(rounds::leaf_hash(leaf));
    made.campaign_entry = {0, tree.inclusion(0, 2)};
    made.model_entry = {1, tree.inclusion(1, 2)};
    made.head.head = {2, tree.root(), wall_now()};
    made.head.signature = sign_head(made.head.head, coordinator);
    for (std::uint8_t i = 0; i < witnesses; ++i)
      made.head.cosignatures.push_back(cosign_head(made.head.head, rounds::witness_key(i)));
    rounds::RoundOrder order;
    order.round.fill(3);
    order.number = 1;
    order.campaign = hash;
    order.model = rounds::model_hash();
    order.head = made.head.head;
    order.expires = wall_now() + std::chrono::minutes(10);
    change_order(order);
    made.order = sign_document(rounds::order_kind, encode(order), coordinator);
    return encode(made);
  }
};

struct Weakening {
  const char* name;
  Reason reason;
  std::function<void(Forgery&)> change;
  rounds::Campaign (*of)() = strict_campaign;

  Forgery made() const {
    Forgery forgery{of()};
    change(forgery);
    return forgery;
  }
};

// What the campaign's own operator may say too, and a coordinator that says it has to sign itself.
Weakening unsigned_change(const char* name, const std::function<void(rounds::Campaign&)>& change) {
  return {name, Reason::operator_signature, [change](Forgery& f) {
            change(f.campaign);
            f.operator_key = rounds::coordinator_key();
          }};
}

// Times of documents are whole seconds: what ends now has not ended yet.
UtcTime a_minute_ago() { return wall_now() - std::chrono::minutes(1); }

// An owner who allows what the campaign of the deployment asks, two witnesses' word less.
const std::vector<Weakening> weakenings = {
    {"another recipe", Reason::unknown_recipe, [](Forgery& f) { f.campaign.recipe = "another"; }},
    {"another layout", Reason::unknown_recipe, [](Forgery& f) { f.campaign.layout[0] ^= 1; }},
    {"local settings", Reason::unknown_recipe, [](Forgery& f) { f.campaign.local[2].value = "13"; }},
    {"no purpose", Reason::purpose, [](Forgery& f) { f.campaign.purpose.clear(); }},
    {"another purpose", Reason::purpose, [](Forgery& f) { f.campaign.purpose += " and advertisements"; }},
    {"population", Reason::terms, [](Forgery& f) { f.campaign.population = 200'000; }},
    {"cohort", Reason::terms, [](Forgery& f) { f.campaign.cohort = 30; }},
    {"participations", Reason::terms, [](Forgery& f) { f.campaign.rounds = f.campaign.participations = 50; }},
    {"epsilon and participations", Reason::policy,
     [](Forgery& f) { f.campaign.rounds = f.campaign.participations = 10, f.campaign.epsilon = 20; }},
    {"delta", Reason::policy, [](Forgery& f) { f.campaign.delta = 1e-3; }},
    {"noise", Reason::terms, [](Forgery& f) { f.campaign.encoding.noise_multiplier *= 0.99; }},
    {"noise and epsilon", Reason::policy,
     [](Forgery& f) { f.campaign.encoding.noise_multiplier *= 0.8, f.campaign.epsilon = 20; }},
    {"grid", Reason::terms, [](Forgery& f) { f.campaign.encoding.step *= 4; }},
    {"clip", Reason::terms, [](Forgery& f) { f.campaign.encoding.clip *= 4; }},
    {"bits", Reason::terms, [](Forgery& f) { f.campaign.bits += 1; }},
    {"an evaluation with too little noise", Reason::terms,
     [](Forgery& f) {
       f.campaign = rounds::with_evaluation(f.campaign, {.every = 5, .epsilon = 4}).value();
       f.campaign.evaluation->noise_multiplier *= 0.9;
     }},
    {"an evaluation beside all that is allowed", Reason::policy,
     [](Forgery& f) {
       f.campaign = rounds::with_evaluation(f.campaign, {.every = 5, .epsilon = 4}).value();
     }},
    {"an evaluation that was not asked for", Reason::order,
     [](Forgery& f) { f.change_order = [](rounds::RoundOrder& order) { order.evaluates = true; }; }},
    {"denominator", Reason::terms, [](Forgery& f) { f.campaign.encoding.denominator = 1; }},
    {"dimension", Reason::terms, [](Forgery& f) { f.campaign.encoding.dimension = 5'000'000; }},
    {"dropped", Reason::terms, [](Forgery& f) { f.campaign.encoding.dropped = 15; }},
    {"clip bit", Reason::terms, [](Forgery& f) { f.campaign.encoding.clip_bit_weight = 100; }},
    {"correctness", Reason::terms, [](Forgery& f) { f.campaign.correctness_bits = -1; }},
    {"shortest phase", Reason::terms, [](Forgery& f) { f.campaign.shortest_phase_seconds = 0; }},
    {"longest phase", Reason::terms,
     [](Forgery& f) { f.campaign.shortest_phase_seconds = f.campaign.longest_phase_seconds + 1; }},
    {"no longest phase", Reason::terms, [](Forgery& f) { f.campaign.longest_phase_seconds = 0; }},
    {"upload limit", Reason::terms, [](Forgery& f) { f.campaign.max_upload_bytes = 100; }},
    {"upload", Reason::policy,
     [](Forgery& f) {
       // Shares for twice as many.
       f.campaign.population = 60;
       f.campaign.cohort = f.campaign.encoding.devices = 40, f.campaign.encoding.denominator = 40;
       f.campaign.encoding.corrupted *= 2, f.campaign.encoding.dropped *= 2;
       f.campaign.bits = f.campaign.plan(1).value().modulus().bits();
       f.campaign.max_upload_bytes *= 3;
     }},
    {"server", Reason::policy, [](Forgery& f) { f.campaign.server = secagg::ServerModel::semi_honest; }},
    {"second sum", Reason::terms,
     [](Forgery& f) {
       f.campaign.second = rounds::SecondSum{f.campaign.encoding.dimension, false, f.campaign.encoding.step,
                                             f.campaign.encoding.noise_multiplier / 2, f.campaign.bits};
       f.campaign.second->bits = f.campaign.plan(2).value().modulus().bits();
     }},
    {"corrupted", Reason::policy, [](Forgery& f) { f.campaign.encoding.corrupted = 1; }},
    {"group", Reason::policy,
     [](Forgery& f) {
       f.campaign.cohort = f.campaign.encoding.devices = 10, f.campaign.encoding.denominator = 10;
       f.campaign.encoding.corrupted = f.campaign.encoding.dropped = 1;
       f.campaign.bits = f.campaign.plan(1).value().modulus().bits();
     }},
    {"security", Reason::policy, [](Forgery& f) { f.campaign.security_bits = 30; }},
    {"training time", Reason::policy, [](Forgery& f) { f.campaign.max_training_seconds = 3600; }},
    {"not yet", Reason::campaign_time, [](Forgery& f) { f.campaign.valid_from += std::chrono::days(1); }},
    {"over", Reason::campaign_time,
     [](Forgery& f) {
       f.campaign.valid_until = a_minute_ago();
       f.change_order = [](rounds::RoundOrder& order) { order.expires = a_minute_ago(); };
     }},
    {"another coordinator", Reason::coordinator_signature,
     [](Forgery& f) { f.campaign.coordinator = rounds::test_key(77).public_key(); }},
    {"another operator", Reason::operator_signature,
     [](Forgery& f) { f.operator_key = rounds::test_key(78); }},
    {"witnesses", Reason::witnesses,
     [](Forgery& f) {
       f.campaign.witnesses = {rounds::witness_key(0).public_key()};
       f.campaign.witnesses_needed = 1;
     }},
    {"another campaign's order", Reason::order,
     [](Forgery& f) { f.change_order = [](rounds::RoundOrder& order) { order.campaign[0] ^= 1; }; }},
    {"a round too many", Reason::order,
     [](Forgery& f) { f.change_order = [](rounds::RoundOrder& order) { order.number = 6; }; }},
    {"bound", Reason::order,
     [](Forgery& f) { f.change_order = [](rounds::RoundOrder& order) { order.bound = 1000; }; }},
    {"expired", Reason::order_time,
     [](Forgery& f) { f.change_order = [](rounds::RoundOrder& order) { order.expires = a_minute_ago(); }; }},
    {"a model that is in no log", Reason::log,
     [](Forgery& f) { f.change_order = [](rounds::RoundOrder& order) { order.model[0] ^= 1; }; }},
    {"another head", Reason::log,
     [](Forgery& f) { f.change_order = [](rounds::RoundOrder& order) { order.head.root[0] ^= 1; }; }},
    unsigned_change("entry clip", [](auto& campaign) { campaign.encoding.entry_clip = 0.5; }),
    unsigned_change("rotation", [](auto& campaign) { campaign.encoding.rotation_seed = 7; }),
    unsigned_change("nonnegative", [](auto& campaign) { campaign.encoding.nonnegative = true; }),
    unsigned_change("products", [](auto& campaign) { campaign.encoding.products = true; }),
    unsigned_change("rounding", [](auto& campaign) { campaign.encoding.rounding_beta *= 2; }),
    unsigned_change("kind of noise",
                    [](auto& campaign) { campaign.encoding.noise = privacy::ShareKind::discrete_gaussian; }),
    unsigned_change("adjacency",
                    [](auto& campaign) { campaign.encoding.adjacency = privacy::Adjacency::add_remove; }),
    unsigned_change("wrapping", [](auto& campaign) { campaign.encoding.log2_wrap_probability = -1; }),
    {"measured after every 0 rounds", Reason::terms, [](Forgery& f) { f.campaign.evaluation->every = 0; },
     measuring_campaign},
    {"every page held out", Reason::terms, [](Forgery& f) { f.campaign.evaluation->held_out = 1; },
     measuring_campaign},
    {"no page measured", Reason::terms, [](Forgery& f) { f.campaign.evaluation->pages = 0; },
     measuring_campaign},
    {"measured more often", Reason::terms, [](Forgery& f) { f.campaign.evaluation->participations += 1; },
     measuring_campaign},
    {"epsilon of evaluations", Reason::terms, [](Forgery& f) { f.campaign.evaluation->epsilon /= 2; },
     measuring_campaign},
    {"grid of evaluations", Reason::terms, [](Forgery& f) { f.campaign.evaluation->step *= 4; },
     measuring_campaign},
    {"noise of evaluations", Reason::terms,
     [](Forgery& f) { f.campaign.evaluation->noise_multiplier *= 0.9; }, measuring_campaign},
    {"bits of evaluations", Reason::terms, [](Forgery& f) { f.campaign.evaluation->bits += 1; },
     measuring_campaign},
    {"dimension of the second sum", Reason::terms, [](Forgery& f) { f.campaign.second->dimension *= 100; },
     two_sums_campaign},
    {"products in the second sum", Reason::terms, [](Forgery& f) { f.campaign.second->products = true; },
     two_sums_campaign},
    {"grid of the second sum", Reason::terms, [](Forgery& f) { f.campaign.second->step *= 4; },
     two_sums_campaign},
    {"noise of the second sum", Reason::terms, [](Forgery& f) { f.campaign.second->noise_multiplier *= 0.9; },
     two_sums_campaign},
    {"bits of the second sum", Reason::terms, [](Forgery& f) { f.campaign.second->bits += 1; },
     two_sums_campaign},
};

std::string text_of(const std::string& value) { return value; }
std::string text_of(double value) { return fmt::format("{}", value); }
template <std::integral Value>
std::string text_of(Value value) {
  return fmt::format("{}", value);
}
template <class Choice>
requires std::is_enum_v<Choice> std::string text_of(Choice value) {
  return fmt::format("{}", static_cast<int>(value));
}
template <std::size_t N>
std::string text_of(const std::array<std::uint8_t, N>& value) {
  return to_hex(value);
}
std::string text_of(UtcTime value) { return privacy::to_text(value); }
std::string text_of(const rounds::LocalSetting& value) { return value.name + "=" + value.value; }
template <class Value>
std::string text_of(const std::vector<Value>& values) {
  std::string all;
  for (const Value& value : values) all += text_of(value) + " ";
  return all;
}
template <class Value>
std::string text_of(const std::optional<Value>& value) {
  return value ? text_of(*value) : "none";
}

// Every field that is signed, by its name. Whoever adds one hears of it here from the compiler, and of its
// missing case from the test below.
std::map<std::string, std::string> fields_of(const rounds::Campaign& campaign) {
  std::map<std::string, std::string> fields;
  const auto add = [&](const char* name, const auto& value) { fields[name] = text_of(value); };
  const auto& [purpose, recipe, layout, local, population, cohort, rounds, participations, epsilon, delta,
               encoding, bits, second, evaluation, server, security_bits, correctness_bits, max_upload_bytes,
               max_training_seconds, shortest_phase_seconds, longest_phase_seconds, valid_from, valid_until,
               coordinator, witnesses, witnesses_needed] = campaign;
  add("purpose", purpose), add("recipe", recipe), add("layout", layout), add("local", local);
  add("population", population), add("cohort", cohort), add("rounds", rounds);
  add("participations", participations), add("epsilon", epsilon), add("delta", delta), add("bits", bits);
  add("server", server), add("security_bits", security_bits), add("correctness_bits", correctness_bits);
  add("max_upload_bytes", max_upload_bytes), add("max_training_seconds", max_training_seconds);
  add("shortest_phase_seconds", shortest_phase_seconds), add("longest_phase_seconds", longest_phase_seconds);
  add("valid_from", valid_from), add("valid_until", valid_until), add("coordinator", coordinator);
  add("witnesses", witnesses), add("witnesses_needed", witnesses_needed);
  {
    const auto& [dimension, clip, step, entry_clip, rotation_seed, clip_bit_weight, nonnegative, products,
                 rounding_beta, denominator, devices, dropped, corrupted, noise, noise_multiplier, adjacency,
                 log2_wrap_probability] = encoding;
    add("encoding.dimension", dimension), add("encoding.clip", clip), add("encoding.step", step);
    add("encoding.entry_clip", entry_clip), add("encoding.rotation_seed", rotation_seed);
    add("encoding.clip_bit_weight", clip_bit_weight), add("encoding.nonnegative", nonnegative);
    add("encoding.products", products), add("encoding.rounding_beta", rounding_beta);
    add("encoding.denominator", denominator), add("encoding.devices", devices);
    add("encoding.dropped", dropped), add("encoding.corrupted", corrupted), add("encoding.noise", noise);
    add("encoding.noise_multiplier", noise_multiplier), add("encoding.adjacency", adjacency);
    add("encoding.log2_wrap_probability", log2_wrap_probability);
  }
  {
    const auto& [dimension, products, step, noise_multiplier, bits_of_second] =
        second.value_or(rounds::SecondSum());
    add("second.dimension", dimension), add("second.products", products), add("second.step", step);
    add("second.noise_multiplier", noise_multiplier), add("second.bits", bits_of_second);
  }
  const auto& [every, held_out, pages, evaluations, evaluation_epsilon, step, noise_multiplier,
               bits_of_evaluation] = evaluation.value_or(rounds::EvaluationSum());
  add("evaluation.every", every), add("evaluation.held_out", held_out), add("evaluation.pages", pages);
  add("evaluation.participations", evaluations), add("evaluation.epsilon", evaluation_epsilon);
  add("evaluation.step", step), add("evaluation.noise_multiplier", noise_multiplier);
  add("evaluation.bits", bits_of_evaluation);
  return fields;
}

// Those of the sums that a campaign may have beside the first, one by one.
TEST(WeakenedCampaigns, AreWeakenedInEveryFieldThatIsSigned) {
  std::set<std::string> missing;
  for (const auto& [name, value] : fields_of(strict_campaign())) missing.insert(name);
  for (const Weakening& weakening : weakenings) {
    const auto before = fields_of(weakening.of()), after = fields_of(weakening.made().campaign);
    std::vector<std::string> changed;
    for (const auto& [name, value] : after)
      if (before.at(name) != value) changed.push_back(name);
    for (const std::string& name : changed)
      if (changed.size() == 1 || !(name.starts_with("second.") || name.starts_with("evaluation.")))
        missing.erase(name);
  }
  EXPECT_THAT(missing, ::testing::IsEmpty());
}

class WeakenedCampaign : public ::testing::TestWithParam<rounds::Campaign (*)()> {};

TEST_P(WeakenedCampaign, IsRefusedByEveryDeviceAndChargedToNone) {
  Forgery forgery{GetParam()()};
  std::mutex mutex;
  net::Router router;
  const auto answer = [](std::string body) {
    net::HttpResponse response;
    response.content_type = "application/octet-stream";
    response.body = std::move(body);
    return response;
  };
  router.add(net::HttpMethod::post, "/v1/enrol",
             [&](const net::HttpRequest&) { return answer(std::string(32, 'k')); });
  router.add(net::HttpMethod::get, "/v1/order", [&](const net::HttpRequest&) {
    const std::lock_guard lock(mutex);
    return answer(forgery.offer());
  });
  router.add(net::HttpMethod::get, "/v1/log", [&](const net::HttpRequest&) {
    const std::lock_guard lock(mutex);
    return answer(encode(rounds::LogPage{0, forgery.log}));
  });
  net::MetricsRegistry metrics;
  auto server = net::HttpServer::start({}, std::move(router), metrics);
  ASSERT_TRUE(server);
  RunningDeployment owners(GetParam()());
  ASSERT_TRUE(owners.open_devices(server->url(), 3));
  // The devices are well: what keeps to everything is refused only because its model cannot be fetched.
  EXPECT_THAT(owners.one(0, owners.devices[0]->network()).why, ::testing::HasSubstr("404"));
  fs::remove(owners.folder / "0" / "public-log.sotto");  // it has seen the log of that campaign
  for (const Weakening& weakening : weakenings) {
    if (weakening.of != GetParam()) continue;
    {
      const std::lock_guard lock(mutex);
      forgery = weakening.made();
    }
    for (std::size_t i = 0; i < owners.devices.size(); ++i) {
      const Participation part = owners.one(i, owners.devices[i]->network());
      ASSERT_EQ(part.outcome, Participation::Outcome::refused) << weakening.name << ": " << part.why;
      EXPECT_EQ(name(*part.refusal), name(weakening.reason)) << weakening.name << ": " << part.why;
    }
  }
  for (const auto& device : owners.devices) EXPECT_EQ(device->charges(), 0U);
}

INSTANTIATE_TEST_SUITE_P(WeakenedCampaigns, WeakenedCampaign,
                         ::testing::Values(strict_campaign, measuring_campaign, two_sums_campaign),
                         [](const auto& one) {
                           return one.index == 0 ? "OfOneSum" : one.index == 1 ? "ThatMeasures" : "OfTwoSums";
                         });

}  // namespace
}  // namespace sotto::coordinator
