#include "coordinator/http/serving_watch.h"

#include <algorithm>

#include "coordinator/http/desk_json.h"
#include "net/http_client.h"

namespace sotto::coordinator {

namespace {

using std::chrono::steady_clock;

constexpr std::uint64_t most_list_bytes = 16 << 10, most_answer_bytes = std::uint64_t{4} << 20;
constexpr std::chrono::milliseconds patience{2000};

// Addresses, one a line; empty lines and those that begin with # are none.
Result<std::vector<std::string>> read_list(const fs::path& file) {
  std::vector<std::string> urls;
  std::error_code unreadable;
  if (!fs::exists(file, unreadable) && !unreadable) return urls;
  SOTTO_TRY(const std::string text, read_file(file, most_list_bytes));
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    std::string line = text.substr(from, end - from);
    from = end + 1;
    line.erase(line.find_last_not_of(" \t\r/") + 1);
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.empty() || line.starts_with('#') || std::find(urls.begin(), urls.end(), line) != urls.end())
      continue;
    if (urls.size() == ServingWatch::most_servers)
      return bad_input("{} names more than {} servers", file.string(), ServingWatch::most_servers);
    urls.push_back(std::move(line));
  }
  return urls;
}

Result<ServingSample> ask(const std::string& url) {
  net::HttpClientSettings settings;
  settings.url = url;
  settings.connect_timeout = settings.timeout = patience;
  settings.max_body_bytes = most_answer_bytes;
  SOTTO_TRY(auto client, net::HttpClient::create(settings));
  SOTTO_TRY(const auto response, client.get("/metrics"));
  if (response.status != 200) return failed("it answers {} for its /metrics", response.status);
  return read_serving_metrics(response.body, steady_clock::now());
}

}  // namespace

ServingWatch::ServingWatch(fs::path list) : list_(std::move(list)), thread_([this] { run(); }) {}

ServingWatch::~ServingWatch() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

void ServingWatch::run() {
  while (true) {
    look();
    std::unique_lock lock(mutex_);
    if (ends_.wait_for(lock, between, [this] { return is_over_; })) return;
  }
}

void ServingWatch::look() {
  const auto urls = read_list(list_);
  std::vector<Watched> next;
  {
    const std::lock_guard lock(mutex_);
    problem_ = urls ? std::string() : urls.error().message;
    if (!urls) return;
    for (const std::string& url : *urls) {
      const auto known =
          std::find_if(servers_.begin(), servers_.end(), [&](const Watched& one) { return one.url == url; });
      next.push_back(known != servers_.end() ? *known : Watched{url, "it was not asked yet", {}});
    }
  }
  for (Watched& one : next) {  // without the lock: some may take their time
    {
      const std::lock_guard lock(mutex_);
      if (is_over_) return;
    }
    auto sample = ask(one.url);
    one.problem = sample ? std::string() : sample.error().message;
    if (!sample) continue;
    // A server that was started again begins anew.
    if (!one.samples.empty() && sample->queries < one.samples.back().queries) one.samples.clear();
    one.samples.push_back(*std::move(sample));
    while (one.samples.back().time - one.samples.front().time > remembered) one.samples.pop_front();
  }
  const std::lock_guard lock(mutex_);
  servers_ = std::move(next);
}

std::string ServingWatch::text() const {
  const std::lock_guard lock(mutex_);
  nlohmann::json list = nlohmann::json::array();
  for (const Watched& one : servers_) {
    nlohmann::json said = nlohmann::json::object();
    if (!one.samples.empty()) {
      said = figures_between(one.samples.front(), one.samples.back());
      said["heard"] = std::chrono::duration<double>(steady_clock::now() - one.samples.back().time).count();
    } else {
      said["heard"] = nullptr;
    }
    said["url"] = one.url;
    said["problem"] = one.problem;
    list.push_back(std::move(said));
  }
  return text_of({{"servers", std::move(list)}, {"problem", problem_}});
}

}  // namespace sotto::coordinator
