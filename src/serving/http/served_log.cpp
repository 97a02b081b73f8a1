#include "serving/http/served_log.h"

#include <algorithm>

#include "base/chain_hash.h"
#include "net/http_text.h"
#include "net/negotiation.h"
#include "rounds/model_version.h"
#include "rounds/round_messages.h"

namespace sotto::serving {

namespace {

using rounds::LeafKind;

net::HttpResponse bytes_response(std::string bytes) {
  net::HttpResponse response;
  response.content_type = "application/octet-stream";
  response.body = std::move(bytes);
  return response;
}

// Of the kinds that a serving operator logs.
Result<rounds::LogLeaf> leaf_in_query(const net::HttpRequest& request) {
  const std::string kind = net::query_value(request.query, "kind").value_or("");
  const auto named = {LeafKind::pack, LeafKind::guide};
  const auto found =
      std::find_if(named.begin(), named.end(), [&](LeafKind one) { return rounds::name(one) == kind; });
  if (found == named.end()) return bad_input("?kind= is pack or guide");
  SOTTO_TRY(const auto hash,
            rounds::digest_from_hex(net::query_value(request.query, "hash").value_or(""), "?hash="));
  return rounds::LogLeaf{*found, hash};
}

}  // namespace

Result<std::unique_ptr<ServedLog>> ServedLog::open(fs::path path, rounds::Identity owner,
                                                   std::vector<rounds::IdentityKey> witnesses,
                                                   Durability durability) {
  std::unique_ptr<ServedLog> served(
      new ServedLog(std::move(path), std::move(owner), std::move(witnesses), durability));
  if (!fs::exists(served->path_)) return served;
  std::vector<std::string> records;
  SOTTO_TRY(served->file_, AppendLog::open(served->path_, rounds::public_log_format, durability,
                                           [&](std::string_view body, std::string_view) -> Status {
                                             records.emplace_back(body);
                                             return {};
                                           }));
  if (served->file_->opening() != as_text(served->log_.owner()))
    return bad_input("{} is the log of another owner than {}: name its key, or another file",
                     served->path_.string(), to_hex(served->log_.owner()));
  for (const std::string& record : records)
    if (auto taken = served->log_.take(record); !taken)
      return tl::unexpected(std::move(taken).error().in(served->path_.string()));
  if (!served->log_.is_complete())
    return bad_input("{}: the last entry has no signed head", served->path_.string());
  return served;
}

Status ServedLog::note_pack(std::string_view bytes, std::int64_t now) {
  return note({LeafKind::pack, rounds::blob_hash(bytes)}, now);
}

Status ServedLog::note_guide(std::string_view version, std::int64_t now) {
  SOTTO_TRY(const auto hash, rounds::digest_from_hex(version, "the version of a guide"));
  return note({LeafKind::guide, hash}, now);
}

Status ServedLog::note(const rounds::LogLeaf& leaf, std::int64_t now) {
  const std::lock_guard lock(mutex_);
  if (log_.find(leaf)) return {};
  SOTTO_TRY(const auto records, log_.records_for(leaf, owner_, rounds::UtcTime(std::chrono::seconds(now))));
  return append(records);
}

Status ServedLog::health() const {
  const std::lock_guard lock(mutex_);
  return health_;
}

Status ServedLog::append(const std::vector<std::string>& records) {
  health_ = store(records);
  SOTTO_CHECK(health_);
  for (const std::string& record : records) SOTTO_CHECK(log_.take(record));
  return {};
}

// On the disk first: what was handed out must be in the log that a restart opens.
Status ServedLog::store(const std::vector<std::string>& records) {
  if (file_) return file_->append(records);
  SOTTO_TRY(file_,
            AppendLog::create(path_, rounds::public_log_format, as_text(log_.owner()), records, durability_));
  return {};
}

void ServedLog::add_routes(net::Router& router) {
  using net::HttpRequest;
  router.add(net::HttpMethod::get, "/v1/log/head",
             [this](const HttpRequest& request) { return head(request); });
  router.add(net::HttpMethod::get, "/v1/log", [this](const HttpRequest& request) { return page(request); });
  router.add(net::HttpMethod::get, "/v1/log/proof",
             [this](const HttpRequest& request) { return proof(request); });
  router.add(net::HttpMethod::post, "/v1/log/cosignature",
             [this](const HttpRequest& request) { return cosign(request); });
}

net::HttpResponse ServedLog::head(const net::HttpRequest& request) const {
  const std::lock_guard lock(mutex_);
  if (!log_.head()) return net::error_response(request, 404, "the log is empty: nothing is handed out yet");
  return bytes_response(encode(*log_.head()));
}

net::HttpResponse ServedLog::page(const net::HttpRequest& request) const {
  const auto from = net::query_number(request.query, "from");
  if (!from) return net::error_response(request, 400, from.error().message);
  const std::lock_guard lock(mutex_);
  rounds::LogPage page{*from, {}};
  const auto& leaves = log_.leaves();
  for (std::uint64_t i = *from; i < leaves.size() && page.entries.size() < rounds::LogPage::most; ++i)
    page.entries.push_back(leaves[i]);
  return bytes_response(encode(page));
}

net::HttpResponse ServedLog::proof(const net::HttpRequest& request) const {
  const auto leaf = leaf_in_query(request);
  const auto from = net::query_number(request.query, "from");
  if (!leaf || !from)
    return net::error_response(request, 400, leaf ? from.error().message : leaf.error().message);
  const std::lock_guard lock(mutex_);
  const auto proof = log_.prove(*leaf, *from);
  if (!proof) return net::error_response(request, 404, proof.error().message);
  return bytes_response(encode(*proof));
}

net::HttpResponse ServedLog::cosign(const net::HttpRequest& request) {
  const auto word = rounds::decode_cosignature(request.body);
  if (!word) return net::error_response(request, 400, word.error().message);
  // Not everybody may fill the log.
  if (std::find(witnesses_.begin(), witnesses_.end(), word->cosignature.witness) == witnesses_.end())
    return net::error_response(request, 403, "this server does not name this witness (--log-witness)");
  const std::lock_guard lock(mutex_);
  const auto record = log_.record_for(*word);
  if (!record) return net::error_response(request, 409, record.error().message);
  if (const auto appended = append({*record}); !appended)
    return net::error_response(request, 503, "the log cannot be written now: the server's log says why");
  return net::json_response(R"({"cosigned":true})");
}

}  // namespace sotto::serving
