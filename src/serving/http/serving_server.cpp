#include "serving/http/serving_server.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/files.h"
#include "base/system_error.h"
#include "blind/guide.h"
#include "device/wire/pack_codec.h"
#include "net/free_memory.h"
#include "serving/pool/serving_model.h"

namespace sotto::serving {

namespace {

constexpr std::int64_t maintenance_seconds = 10;

// Can the folder still be written? Asked by reserving a little room in it: only that tells of a full disk, a
// quota or a file system that has become read-only. Leaves nothing behind.
Status probe_folder(const fs::path& folder) {
  constexpr off_t room = 64 << 10;
  const fs::path file = folder / ".room";
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return system_failure("write in", folder);
  const int problem = ::posix_fallocate(descriptor, 0, room);
  ::close(descriptor);
  ::unlink(file.c_str());
  if (problem != 0) return system_failure("write in", folder, problem);
  return {};
}

}  // namespace

Result<std::shared_ptr<const ServingModel>> ServingServer::load_model() {
  std::error_code problem;
  // Before reading: a file that is replaced meanwhile is read again at the next tick.
  pack_time_ = fs::last_write_time(settings_.model, problem);
  SOTTO_TRY(const std::string bytes, read_file(settings_.model, device::max_pack_bytes));
  auto pack = device::decode_pack(bytes);
  if (!pack) return tl::unexpected(std::move(pack).error().in(settings_.model.string()));
  SOTTO_TRY(auto encoder, encoder_for_(*pack));
  SOTTO_TRY(auto model, model_of(*pack, settings_.average_share, std::move(encoder)));
  pack->items = {};
  pack_ = std::move(*pack);
  return model;
}

Result<std::unique_ptr<ServingServer>> ServingServer::start(const ServeSettings& settings,
                                                            const EncoderFor& encoder_for,
                                                            std::unique_ptr<ServedLog> log) {
  std::unique_ptr<ServingServer> serving(new ServingServer(settings, encoder_for));
  serving->log_ = std::move(log);
  SOTTO_TRY(auto model, serving->load_model());
  LivePool::Settings pool_settings;
  pool_settings.catalogue.durability = settings.durability;
  pool_settings.max_age_seconds = settings.max_age_seconds;
  SOTTO_TRY(serving->pool_, LivePool::open(settings.catalogue, std::move(model), pool_settings));
  serving->api_ = std::make_unique<ServingApi>(
      *serving->pool_, serving->packs_, serving->metrics_,
      ServingApiSettings{settings.operator_token, [raw = serving.get()] { return *raw->health_.take(); }});
  net::Router router;
  serving->api_->add_routes(router);
  net::HttpServerSettings http = settings.http;
  if (settings.blind.enabled) {
    const auto most_words = static_cast<std::size_t>(settings.blind.refresh_bytes) / sizeof(std::uint32_t);
    serving->blind_ = std::make_unique<BlindPool>(settings.blind);
    serving->blind_api_ = std::make_unique<BlindApi>(*serving->pool_, *serving->blind_, serving->metrics_);
    serving->blind_api_->add_routes(router, most_words);
    // Other routes keep limits of their own.
    http.max_anonymous_body_bytes =
        std::max(http.max_anonymous_body_bytes, static_cast<std::int64_t>(blind::body_bytes(most_words)));
  }
  if (settings.reader.enabled) {
    serving->reader_api_ = std::make_unique<ReaderApi>(*serving->pool_, settings.reader,
                                                       settings.blind.enabled, serving->log_.get());
    serving->reader_api_->add_routes(router);
    if (!settings.reader.training.coordinator.empty()) {
      SOTTO_TRY(serving->training_gate_, TrainingGate::open(settings.reader.training));
      serving->training_gate_->add_routes(router);
      http.max_anonymous_body_bytes = std::max(http.max_anonymous_body_bytes,
                                               static_cast<std::int64_t>(TrainingGate::most_message_bytes));
    }
  }
  if (serving->log_) serving->log_->add_routes(router);
  SOTTO_TRY(auto server, net::HttpServer::start(http, std::move(router), serving->metrics_));
  serving->server_.emplace(std::move(server));
  return serving;
}

void ServingServer::stop() {
  if (training_gate_) training_gate_->stop();  // the server waits for what is unanswered
  server_.reset();
}

Status ServingServer::reload_if_changed() {
  std::error_code problem;
  const auto time = fs::last_write_time(settings_.model, problem);
  if (problem || time == pack_time_) return {};  // a missing file is one that is about to be replaced
  device::DevicePack before = pack_;
  SOTTO_TRY(auto model, load_model());
  if (pool_->of_version(model->version())) {  // the same model, written again: versions name contents
    pack_ = std::move(before);
    return {};
  }
  if (auto replaced = pool_->replace_model(std::move(model)); !replaced) {
    pack_ = std::move(before);
    return replaced;
  }
  published_ = 0;
  return {};
}

Status ServingServer::rebuild_blind_if_due(std::int64_t now) {
  if (!blind_) return {};
  SOTTO_TRY(const bool is_new, blind_->rebuild_if_due(*pool_, now));
  guide_waits_ = guide_waits_ || is_new;
  if (!guide_waits_) return {};
  if (const auto edition = blind_->newest(); edition && log_)
    SOTTO_CHECK(log_->note_guide(edition->version(), now));
  guide_waits_ = false;
  blind_api_->publish();
  net::return_free_memory();  // making an edition takes several times what it keeps
  published_ = 0;             // the pack names the guide
  return {};
}

Status ServingServer::publish_if_due(std::int64_t now) {
  if (settings_.pack_seconds == 0 || now < published_ + settings_.pack_seconds) return {};
  const std::uint64_t changes = pool_->changes();
  if (published_ > 0 && changes == published_changes_) return {};
  // A pack without a guide would hold the whole pool: it waits for the first database of its model, and one
  // with a guide until that is in the log.
  if (guide_waits_) return {};
  if (blind_ && pool_->catalogue().size() > 0 && !blind_->travels_whole(*pool_) &&
      (!blind_->newest() || blind_->newest()->model() != pack_.model))
    return {};
  SOTTO_TRY(const device::DevicePack pack,
            blind_ ? with_blind_items(pack_, *pool_, *blind_) : with_live_items(pack_, *pool_));
  if (reader_api_) reader_api_->publish();  // first: a page must find what its device names
  SOTTO_CHECK(packs_.publish(pack, [&](std::string_view bytes) -> Status {
    if (!log_) return {};
    return log_->note_pack(bytes, now);
  }));
  published_ = now;
  published_changes_ = changes;
  return {};
}

// An error when the disk has just ceased to take changes: the rest is told by /healthz.
Status ServingServer::check_disk(std::int64_t now) {
  if (now >= maintained_ + maintenance_seconds) {
    maintained_ = now;
    maintenance_ = pool_->maintain(now);
    api_->observe_pool();
  }
  Status health = probe_folder(settings_.catalogue);
  const CatalogueHealth catalogue = pool_->catalogue().health();
  const Status logging = log_ ? log_->health() : Status{};
  const std::array<const Status*, 4> told_by = {&maintenance_, &catalogue.writing, &catalogue.compaction,
                                                &logging};
  for (const Status* one : told_by) {
    if (health) health = *one;
  }
  const bool was_well = health_.take()->has_value();
  // Anybody may ask /healthz: it says what, and the log says where.
  const Status told = health ? Status{} : failed("changes cannot be stored now: the server's log says why");
  health_.replace(std::make_shared<const Status>(told));
  return was_well ? health : Status{};
}

Status ServingServer::tick(std::int64_t now) {
  Status disk = check_disk(now);
  SOTTO_CHECK(reload_if_changed());
  const Status blind = rebuild_blind_if_due(now);
  SOTTO_CHECK(publish_if_due(now));
  SOTTO_CHECK(blind);
  return disk;
}

}  // namespace sotto::serving
