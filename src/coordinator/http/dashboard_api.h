#pragma once
// What the operator's page shows, for it and for everybody who may ask /v1/status: counts and times, nothing
// about a device. What the store is asked for is asked once for all who ask, until it has changed.
//
//   GET /v1/events       the answer of /v1/status whenever it changes (event_feed.h)
//   GET /v1/rounds       the last orders: devices by phase, time, bytes, why one was abandoned
//   GET /v1/versions     the versions of the campaign, and which is current
//   GET /v1/campaigns    those that this store has seen
//   GET /v1/log/entries  ?from=N: the public log for people
//   GET /v1/serving      what servers that recommend say of themselves (serving_watch.h)
//   GET /dashboard       the page
//
// Everything it is given must outlive the object, and the object the server that has its routes. Thread-safe.

#include <functional>
#include <mutex>

#include "coordinator/campaign_run.h"
#include "coordinator/http/event_feed.h"
#include "coordinator/http/serving_watch.h"
#include "net/router.h"

namespace sotto::coordinator {

class DashboardApi {
 public:
  // status: the answer of /v1/status. serving: null where no servers are looked at.
  DashboardApi(const CampaignRun& run, Store& store, std::function<std::string()> status,
               const ServingWatch* serving = nullptr);

  void add_routes(net::Router& router);
  // Tells the pages what changed.
  void observe() { feed_.tell(status_(), EventFeed::Clock::now()); }
  void close() { feed_.close(); }

 private:
  net::HttpResponse rounds() const;
  // Of the store as it is now.
  Result<std::string> versions_text() const;
  Result<std::string> campaigns_text() const;
  struct Shown {
    std::mutex mutex;  // held while it is made: nobody else asks the store meanwhile
    std::optional<std::pair<std::uint64_t, std::string>> made;  // at which revision, and the text
  };
  net::HttpResponse shown(Shown& shown, const net::HttpRequest& request,
                          Result<std::string> (DashboardApi::*make)() const) const;
  net::HttpResponse log_entries(const net::HttpRequest& request) const;

  const CampaignRun& run_;
  Store& store_;
  const std::function<std::string()> status_;
  const ServingWatch* serving_;
  EventFeed feed_;
  Shown versions_, campaigns_;
};

}  // namespace sotto::coordinator
