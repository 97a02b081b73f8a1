// Writes what a device of this version keeps and is sent into a folder, for protocol_compatibility_test.cpp
// of later versions:  write_compatibility tests/device/compatibility/VERSION Everything but the ledger's name
// is drawn from seeds.

#include <cstdio>

#include "device/history/history_store.h"
#include "device/history/impression_store.h"
#include "device/history/row_store.h"
#include "device/sample_messages.h"
#include "device/small_pack.h"
#include "device/small_rows.h"
#include "device/wire/pack_codec.h"
#include "device/wire/query_wire.h"
#include "privacy/ledger/ledger.h"
#include "rounds/enrolment.h"
#include "rounds/round_messages.h"
#include "rounds/small_blobs.h"
#include "rounds/two_sums_campaign.h"

using namespace sotto;

namespace {

const privacy::UtcTime now = rounds::campaign_begin + std::chrono::hours(1);

Status write_documents(const fs::path& folder) {
  const auto keep = [&](const char* name, const std::string& bytes) {
    return write_file_atomically(folder / name, bytes);
  };
  const rounds::Campaign campaign = rounds::small_campaign();
  SOTTO_TRY(const std::string document, rounds::sign_campaign(campaign, rounds::operator_key()));
  SOTTO_TRY(const auto opened, rounds::open_campaign(document));
  SOTTO_CHECK(keep("campaign", document));
  rounds::PublicLog log(rounds::coordinator_key().public_key());
  for (const rounds::LogLeaf& leaf : {rounds::LogLeaf{rounds::LeafKind::campaign, opened.hash},
                                      rounds::LogLeaf{rounds::LeafKind::model, rounds::model_hash()}}) {
    SOTTO_TRY(const auto records, log.records_for(leaf, rounds::coordinator_key(), now));
    for (const std::string& record : records) SOTTO_CHECK(log.take(record));
  }
  rounds::RoundOrder order;
  order.round.fill(3);
  order.number = 1;
  order.campaign = opened.hash;
  order.model = rounds::model_hash();
  order.head = log.head()->head;
  order.expires = now + std::chrono::hours(1);
  SOTTO_TRY(const std::string signed_order, rounds::sign_order(order, opened, rounds::coordinator_key()));
  SOTTO_CHECK(keep("order", signed_order));
  SOTTO_CHECK(keep("offer", encode(rounds::OfferMessage{document,
                                                        signed_order,
                                                        *log.head(),
                                                        {0, log.tree().inclusion(0, 2)},
                                                        {1, log.tree().inclusion(1, 2)}})));
  SOTTO_CHECK(keep("log_page", encode(rounds::LogPage{0, log.leaves()})));
  SOTTO_CHECK(keep("log_frontier", log.frontier().encode()));
  SOTTO_CHECK(keep("token", rounds::sign_token({{}, true, now}, rounds::operator_key())));
  SOTTO_TRY(const std::string two_sums,
            rounds::sign_campaign(rounds::two_sums_campaign(), rounds::operator_key()));
  SOTTO_CHECK(keep("campaign_of_two_sums", two_sums));
  SOTTO_TRY(const std::string model, encode(rounds::plain_version()));
  SOTTO_CHECK(keep("model", model));
  SOTTO_TRY(const std::string items, encode(rounds::plain_table()));
  SOTTO_CHECK(keep("items", items));
  SOTTO_TRY(const std::string whole_model, encode(rounds::full_version()));
  SOTTO_CHECK(keep("model_of_everything", whole_model));
  SOTTO_TRY(const std::string everything, encode(rounds::full_table()));
  return keep("items_of_everything", everything);
}

Status write_messages(const fs::path& folder) {
  for (const auto& [name, bytes] : device::testing::sample_messages())
    SOTTO_CHECK(write_file_atomically(folder / name, bytes));
  return {};
}

Status write_device(const fs::path& folder) {
  const device::DevicePack pack = device::testing::small_pack(12);
  SOTTO_TRY(const std::string bytes, device::encode_pack(pack));
  SOTTO_CHECK(write_file_atomically(folder / "pack", bytes));
  SOTTO_TRY(const std::string later, device::encode_pack(device::testing::small_pack(14)));
  SOTTO_TRY(const std::string delta, device::encode_delta(bytes, later));
  SOTTO_CHECK(write_file_atomically(folder / "pack_delta", delta));
  device::RecommendRequest request;
  request.model = pack.model;
  request.query = privacy::PopularQuery{};
  request.count = 50;
  SOTTO_CHECK(write_file_atomically(folder / "recommend_request", encode(request)));
  SOTTO_CHECK(write_file_atomically(folder / "recommend_answer",
                                    encode(device::RecommendAnswer{pack.model, {"N1", "N2"}, {2, 1}})));
  SOTTO_TRY(auto history, device::HistoryStore::open(folder / "history"));
  for (const char* item : {"N1", "N5"}) SOTTO_CHECK(history.add(pack, item, now));
  SOTTO_TRY(auto pages, device::ImpressionStore::open(folder / "impressions"));
  SOTTO_CHECK(pages.add({{now, {"N1"}, {"N2", "N5"}, {0, 1}}}, now));
  SOTTO_TRY(auto rows, device::RowStore::open(folder / "rows"));
  SOTTO_CHECK(rows.set_profile(device::testing::small_rows(now).profile));
  SOTTO_CHECK(rows.add(device::testing::small_rows(now).rows, now));
  SOTTO_TRY(auto sensitivity, privacy::SensitivitySettings::create({"health", "sports"}, {"sports"}));
  SOTTO_TRY(auto ledger,
            privacy::Ledger::create(folder / "ledger",
                                    {privacy::Unit::user,
                                     privacy::Adjacency::replace_one,
                                     privacy::RequestOrder::adaptive,
                                     std::move(sensitivity),
                                     {{privacy::BudgetWindow::lifetime, std::nullopt, 100, 1e-5}}},
                                    now, {.anchor = nullptr, .first_use = true}));
  SOTTO_TRY(const auto terms, rounds::terms_of(rounds::small_campaign()));
  privacy::TrainingRound round;
  round.campaign.fill(1);
  round.round.fill(3);
  SOTTO_CHECK(ledger.charge({.purpose = privacy::ReleasePurpose::training,
                             .event = terms.event,
                             .reads = std::nullopt,
                             .about = "round 1",
                             .round = round},
                            now));
  return {};
}

}  // namespace

int main(int count, char** words) {
  const fs::path folder = count == 2 ? words[1] : "";
  Status done = folder.empty() ? bad_input("usage: write_compatibility FOLDER") : Status{};
  if (done) fs::create_directories(folder);
  if (done) done = write_documents(folder);
  if (done) done = write_messages(folder);
  if (done) done = write_device(folder);
  if (!done) std::fprintf(stderr, "write_compatibility: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
