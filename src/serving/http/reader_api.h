#pragma once
// The reader's page, and what it shows beside what every device gets.
//
//   GET /            the page: the browser is the device
//   GET /v1/stories?page=N
//                    title, text and category of the edition's items, the same bytes for everybody: opening
//                    an article asks nobody for it. The edition is the newest reader_stories items, by age in
//                    pages of 1,000, which stay as they are when there are newer ones. Without page: the
//                    newest page, which tells its number and that of the oldest
//   GET /v1/reader   what the service offers: its name, how much it asks a device to tell, its public log,
//                    and whose campaigns the page may train in
//
// The pool must outlive the object, and the object the server that has its routes. Thread-safe; publish() is
// for one owner.

#include <optional>
#include <string>

#include "net/published_body.h"
#include "net/router.h"
#include "serving/http/served_log.h"
#include "serving/http/training_gate.h"
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
  std::int64_t stories = 20'000;      // of the edition
  std::int64_t witnesses_needed = 0;  // of the log, before a page takes an edition
  TrainingGateSettings training;

  void bind(SettingsTable& table);  // all but epsilon, which also decides what is served
};

class ReaderApi {
 public:
  // blind: pages are offered encrypted questions too.
  // log: the one that pages demand proofs of, null: none is kept.
  ReaderApi(const LivePool& pool, const ReaderSettings& settings, bool blind, const ServedLog* log);

  void add_routes(net::Router& router);
  // The items as they are now.
  void publish();

 private:
  using Page = std::shared_ptr<const net::PublishedBody>;
  struct Edition {
    std::size_t first = 0;  // number of the oldest page
    std::vector<Page> pages;
  };
  Edition edition_of(std::vector<StoredItemPtr> all, const Edition& before) const;
  net::HttpResponse stories(const net::HttpRequest& request) const;

  const LivePool& pool_;
  const std::string offer_;
  const std::size_t stories_;
  Published<Edition> edition_;
};

}  // namespace sotto::serving
