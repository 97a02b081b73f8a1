#pragma once
// The reader's page, and what it shows beside what every device gets.
//
//   GET /            the page: the browser is the device
//   GET /v1/stories  title, text and category of every item of the pack, the same bytes for everybody:
//   opening an
//                    article asks nobody for it
//   GET /v1/reader   what the service offers: its name, and how much it asks a device to tell
//
// The pool must outlive the object, and the object the server that has its routes. Thread-safe; publish() is
// for one owner.

#include <optional>
#include <string>

#include "net/published_body.h"
#include "net/router.h"
#include "serving/index/published.h"
#include "serving/pool/live_pool.h"

namespace sotto {
class SettingsTable;
}

namespace sotto::serving {

struct ReaderSettings {
  bool enabled = false;
  std::string service = "Sotto News";  // who asks, as people know it
  std::optional<double> epsilon;       // of one answer; none: pages are offered no private questions
  double day_epsilon = 12, month_epsilon = 60;
  double refresh_hours = 8;

  void bind(SettingsTable& table);  // all but epsilon, which also decides what is served
};

class ReaderApi {
 public:
  ReaderApi(const LivePool& pool, const ReaderSettings& settings);

  void add_routes(net::Router& router);
  // The items as they are now.
  void publish();

 private:
  const LivePool& pool_;
  const std::string offer_;
  Published<net::PublishedBody> stories_;
};

}  // namespace sotto::serving
