#include "serving/http/training_gate.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/settings.h"
#include "net/http_text.h"
#include "net/negotiation.h"
#include "rounds/come_back.h"
#include "rounds/round_messages.h"

namespace sotto::serving {

namespace {

using net::HttpMethod;
using net::HttpReply;
using net::HttpRequest;
using net::HttpResponse;

constexpr std::string_view prefix = "/training";
// Longer than a coordinator holds an answer back, shorter than this server waits for one.
constexpr std::chrono::seconds patience{25};
constexpr std::uint64_t most_answer_bytes = std::uint64_t{64} << 20;  // a version, or a table of items
constexpr std::string_view handed_on[] = {"Content-Type", rounds::device_header, rounds::signature_header,
                                          rounds::body_header};
constexpr std::string_view handed_back[] = {rounds::come_back_header, "Retry-After"};

HttpResponse answer_of(HttpResponse said) {
  HttpResponse answer;
  answer.status = said.status;
  answer.content_type = std::move(said.content_type);
  for (const std::string_view name : handed_back)
    if (const auto value = said.header(name); !value.empty()) answer.headers.emplace_back(name, value);
  answer.headers.emplace_back("Cache-Control", "no-store");
  answer.body = std::move(said.body);
  return answer;
}

HttpResponse come_later(net::BodyForm form, int status, std::string_view why) {
  HttpResponse busy = net::error_response(form, status, why);
  busy.headers.emplace_back("Retry-After", "5");
  return busy;
}

}  // namespace

void TrainingGateSettings::bind(SettingsTable& table) {
  table
      .add("coordinator", coordinator,
           "Address of a coordinator: the reader's page trains in its campaign, through this server")
      .add("coordinator_authorities", authorities,
           "PEM file of certificates to trust, where it has an https address")
      .add("training_calls", calls, {1, 4096}, "Calls of pages to the coordinator at once");
}

// Threads are made as they are needed and stay; each has a connection of its own.
struct TrainingGate::Calls {
  struct Call {
    HttpRequest request;
    HttpReply reply;
  };

  Calls(net::HttpClientSettings settings, std::size_t at_once)
      : coordinator(std::move(settings)), most(at_once) {}

  // False: as many as may be are under way.
  bool take(Call& call) {
    const std::lock_guard lock(mutex);
    if (ending || waiting.size() + busy >= most) return false;
    waiting.push_back(std::move(call));
    if (waiting.size() + busy > threads.size()) threads.emplace_back([this] { work(); });
    wake.notify_one();
    return true;
  }

  void end() {
    std::deque<Call> unanswered;  // their replies say that nothing came of it
    {
      const std::lock_guard lock(mutex);
      ending = true;
      unanswered.swap(waiting);
      for (net::HttpClient* client : clients) client->cancel();
    }
    wake.notify_all();
    for (std::thread& thread : threads)
      if (thread.joinable()) thread.join();
  }

 private:
  void work() {
    auto client = net::HttpClient::create(coordinator);
    std::unique_lock lock(mutex);
    if (client) clients.push_back(&*client);
    while (true) {
      wake.wait(lock, [this] { return ending || !waiting.empty(); });
      if (ending) break;
      Call call = std::move(waiting.front());
      waiting.pop_front();
      ++busy;
      lock.unlock();
      HttpResponse answer = client ? ask(*client, call.request)
                                   : net::error_response(call.request, 502, client.error().message);
      std::move(call.reply)(std::move(answer));
      lock.lock();
      --busy;
    }
    if (client) std::erase(clients, &*client);
  }

  static HttpResponse ask(net::HttpClient& client, const HttpRequest& request) {
    net::HttpClient::Call call;
    call.method = request.method;
    call.path = request.path.substr(prefix.size());
    if (!request.query.empty()) call.path += "?" + request.query;
    call.body = request.body;
    for (const std::string_view name : handed_on) {
      const auto value = request.header(name);
      if (value.empty()) continue;
      if (name == "Content-Type")
        call.content_type = value;
      else
        call.headers.emplace_back(name, value);
    }
    auto said = client.send(call);
    // What went wrong behind this server is no reader's business.
    if (!said) return come_later(net::wanted_form(request), 502, "the coordinator does not answer");
    return answer_of(*std::move(said));
  }

  const net::HttpClientSettings coordinator;
  const std::size_t most;
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<Call> waiting;
  std::vector<std::thread> threads;
  std::vector<net::HttpClient*> clients;
  std::size_t busy = 0;
  bool ending = false;
};

TrainingGate::TrainingGate(net::HttpClientSettings coordinator, std::size_t calls, bool trial)
    : trial_(trial), calls_(std::make_unique<Calls>(std::move(coordinator), calls)) {}

TrainingGate::~TrainingGate() { stop(); }

void TrainingGate::stop() { calls_->end(); }

Result<std::unique_ptr<TrainingGate>> TrainingGate::open(const TrainingGateSettings& settings) {
  net::HttpClientSettings coordinator;
  coordinator.url = settings.coordinator;
  coordinator.authorities = settings.authorities;
  coordinator.timeout = patience;
  coordinator.max_body_bytes = most_answer_bytes;
  // Refuses an address that is none, and authorities that cannot be read.
  if (auto tried = net::HttpClient::create(coordinator); !tried)
    return tl::unexpected(std::move(tried).error().in("--coordinator"));
  return std::unique_ptr<TrainingGate>(new TrainingGate(
      std::move(coordinator), static_cast<std::size_t>(settings.calls), !settings.operator_key));
}

void TrainingGate::add_routes(net::Router& router) {
  const auto add = [&](HttpMethod method, std::string_view path,
                       std::uint64_t body_limit = net::Router::default_body_limit) {
    router.add(
        method, std::string(prefix) + std::string(path),
        [this](HttpRequest&& request, HttpReply reply) { hand_on(std::move(request), std::move(reply)); },
        body_limit);
  };
  for (const char* path : {"/v1/campaign", "/v1/order", "/v1/log", "/v1/blob/{hash}"})
    add(HttpMethod::get, path);
  if (trial_) add(HttpMethod::get, "/v1/trial");
  for (const char* path : {"/v1/enrol", "/v1/checkin"}) add(HttpMethod::post, path);
  add(HttpMethod::post, "/v1/rounds/{room}/{phase}", most_message_bytes);
}

void TrainingGate::hand_on(HttpRequest&& request, HttpReply reply) {
  // HEAD comes here too, and a coordinator has nothing to say to it that GET would not.
  if (request.method == HttpMethod::head)
    return std::move(reply)(net::error_response(request, 405, "ask with GET"));
  const net::BodyForm form = net::wanted_form(request);
  Calls::Call call{std::move(request), std::move(reply)};
  if (calls_->take(call)) return;
  std::move(call.reply)(come_later(form, 503, "too many pages train at once: come back later"));
}

}  // namespace sotto::serving
