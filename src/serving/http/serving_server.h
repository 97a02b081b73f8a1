#pragma once
// The whole server: a pack file as the model, a folder as the catalogue, HTTP in front, and what must be done
// now and then.
//
// start() returns when the port is open. tick() is called every second or so by the owner's loop: it takes
// over a new pack file, lets old items go, compacts the files, has the blind database made anew when it is
// due, publishes the device pack, and looks whether the catalogue's folder can still be written: /healthz
// answers 503 when it cannot, until it can again. stop() (or the destructor) answers the requests that have
// arrived. One owner.

#include <functional>
#include <optional>

#include "device/pack/device_pack.h"
#include "serving/http/blind_api.h"
#include "serving/http/reader_api.h"
#include "serving/http/served_log.h"
#include "serving/http/serving_api.h"
#include "serving/http/training_gate.h"

namespace sotto::serving {

struct ServeSettings {
  fs::path model;      // a pack; its items do not matter
  fs::path catalogue;  // folder of the live items
  std::string operator_token;
  double average_share = 0;          // of the average user in a prototype
  std::int64_t max_age_seconds = 0;  // of items; 0: they stay
  std::int64_t pack_seconds = 60;    // between packs while items change; 0: no packs
  Durability durability = Durability::power_loss;
  BlindSettings blind;
  ReaderSettings reader;
  net::HttpServerSettings http;
};

class ServingServer {
 public:
  // Makes the encoder of a model; null where there is none.
  using EncoderFor = std::function<Result<std::shared_ptr<const ItemEncoder>>(const device::DevicePack&)>;
  // log: every pack and guide is in it before it is handed out; null: none is kept.
  static Result<std::unique_ptr<ServingServer>> start(const ServeSettings& settings,
                                                      const EncoderFor& encoder_for,
                                                      std::unique_ptr<ServedLog> log = nullptr);
  ~ServingServer() { stop(); }
  ServingServer(const ServingServer&) = delete;
  ServingServer& operator=(const ServingServer&) = delete;

  // An error concerns this tick alone (a broken new pack, a full disk): the server goes on as it was.
  Status tick(std::int64_t now);  // seconds since 1970
  void stop();

  std::string url() const { return server_->url(); }
  LivePool& pool() { return *pool_; }
  // Null where it does not serve blindly.
  const BlindPool* blind() const { return blind_.get(); }

 private:
  ServingServer(const ServeSettings& settings, EncoderFor encoder_for)
      : settings_(settings), encoder_for_(std::move(encoder_for)) {}
  Result<std::shared_ptr<const ServingModel>> load_model();
  Status reload_if_changed();
  Status rebuild_blind_if_due(std::int64_t now);
  Status publish_if_due(std::int64_t now);
  Status check_disk(std::int64_t now);

  const ServeSettings settings_;
  const EncoderFor encoder_for_;
  device::DevicePack pack_;  // of the current model
  fs::file_time_type pack_time_{};
  std::int64_t maintained_ = 0, published_ = 0;
  Status maintenance_;                                          // what the last one came to
  Published<Status> health_{std::make_shared<const Status>()};  // of the disk, as the last tick saw it
  std::uint64_t published_changes_ = 0;
  net::MetricsRegistry metrics_;
  PackPublisher packs_;
  std::unique_ptr<LivePool> pool_;
  std::unique_ptr<BlindPool> blind_;
  std::unique_ptr<ServingApi> api_;
  std::unique_ptr<BlindApi> blind_api_;
  std::unique_ptr<ReaderApi> reader_api_;
  std::unique_ptr<TrainingGate> training_gate_;
  std::unique_ptr<ServedLog> log_;
  bool guide_waits_ = false;  // to be logged and published
  std::optional<net::HttpServer> server_;
};

}  // namespace sotto::serving
