// sotto.device and sotto.serving: a reader's device in a script, and HTTP without anything to recognise it
// by.
#include "device/device.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "bindings/bindings.h"
#include "net/http_client.h"
#include "privacy/ledger/ledger_statement.h"
#include "transport/http_transport.h"

namespace sotto::python {

using namespace nb::literals;

namespace {

net::HttpClientSettings client_settings(const std::string& url, const std::optional<fs::path>& authorities,
                                        double timeout) {
  if (!(timeout > 0 && timeout <= 86'400))
    throw InputError(fmt::format("timeout is {} s, must be above 0 and at most 86400", timeout));
  net::HttpClientSettings settings;
  settings.url = url;
  // Not an empty path: Python makes "." of one.
  if (authorities) settings.authorities = *authorities;
  settings.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(timeout * 1000) + 1);
  return settings;
}

// A line end would begin another field, or another request.
void refuse_control_characters(const net::HttpClient::Call& call) {
  const auto check_text = [](std::string_view text, const char* what) {
    for (const char letter : text)
      if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f)
        throw InputError(fmt::format("{} holds a control character", what));
  };
  check_text(call.path, "the path");
  check_text(call.content_type, "the content type");
  if (call.path.empty() || call.path.front() != '/' || call.path.find(' ') != std::string::npos)
    throw InputError(fmt::format("the path is '{}', must begin with / and have no spaces", call.path));
  for (const auto& [name, value] : call.headers) {
    check_text(name, "the name of a header");
    check_text(value, "a header");
    if (name.empty() || name.find_first_of(" :") != std::string::npos)
      throw InputError(fmt::format("'{}' is no name of a header", name));
  }
}

// A device and its way to the server.
struct Reader {
  device::Device device;
  std::optional<transport::HttpTransport> server;
  std::string url;

  transport::HttpTransport& way() {
    if (!server) throw InputError("this device has no server: open it with server=URL");
    return *server;
  }
};
using GuardedReader = Guarded<Reader>;
using GuardedClient = Guarded<net::HttpClient>;

void bind_devices(nb::module_& module) {
  nb::class_<device::RankedItem>(module, "RankedItem", "An item of a page, with its score on the device.")
      .def_ro("item", &device::RankedItem::item)
      .def_ro("score", &device::RankedItem::score)
      .def("__repr__", [](const device::RankedItem& ranked) {
        return fmt::format("RankedItem('{}', {:.4f})", ranked.item, ranked.score);
      });
  nb::class_<device::Recommendations>(module, "Page", "Items, best first, and where they come from.")
      .def_ro("items", &device::Recommendations::items)
      .def_ro("note", &device::Recommendations::note,
              "Why it is not what the settings ask for; empty if it is.")
      .def_prop_ro("source",
                   [](const device::Recommendations& page) { return std::string(name(page.source)); });
  nb::class_<GuardedReader>(module, "Device",
                            "One reader's device. Clicks stay in its folder; what may be told to the server "
                            "is charged to its ledger before "
                            "it is sent, and when the budget is spent it asks for the public list.")
      .def(
          "__init__",
          [](GuardedReader* made, const fs::path& folder, const std::optional<std::string>& server,
             const std::optional<fs::path>& authorities, double timeout, bool first_use,
             const std::vector<std::string>& not_sensitive, const nb::kwargs& given) {
            device::DeviceSettings settings;
            SettingsTable table;
            settings.bind(table);
            apply_settings(settings_of(given), table);
            for (const std::string& category : not_sensitive) {
              if (category.find(',') != std::string::npos)
                throw InputError(fmt::format(
                    "not_sensitive: '{}' has a comma in its name, and settings divide names by commas: "
                    "rename the category, or leave it among the sensitive ones",
                    category));
              settings.not_sensitive += (settings.not_sensitive.empty() ? "" : ",") + category;
            }
            device::DeviceEnvironment environment;
            environment.first_use = first_use;
            std::optional<transport::HttpTransport> way;
            if (server)
              way =
                  value_of(transport::HttpTransport::create(client_settings(*server, authorities, timeout)));
            auto opened =
                unlocked([&] { return value_of(device::Device::open(folder, settings, environment)); });
            new (made) GuardedReader(Reader{std::move(opened), std::move(way), server.value_or("")});
          },
          "folder"_a, "server"_a.none(), "authorities"_a.none(), "timeout"_a, "first_use"_a,
          "not_sensitive"_a, "settings"_a,
          nb::sig("def __init__(self, folder: str | os.PathLike[str], server: str | None, authorities: str | "
                  "os.PathLike[str] | None, timeout: float, first_use: bool, not_sensitive: "
                  "collections.abc.Sequence[str], "
                  "**settings: str | float | bool | None) -> None"))
      .def(
          "refresh",
          [](GuardedReader& self) {
            return self.use([](Reader& reader) { return value_of(reader.device.refresh(reader.way())); });
          },
          "Fetches the public pack if it is newer. False: it was not.")
      .def(
          "install",
          [](GuardedReader& self, const nb::bytes& pack) {
            const std::string bytes(static_cast<const char*>(pack.data()), pack.size());
            self.use([&](Reader& reader) { check(reader.device.install(bytes)); });
          },
          "pack"_a, "Installs a pack that came another way. A bad one changes nothing.")
      .def(
          "click",
          [](GuardedReader& self, const std::string& item) {
            self.use([&](Reader& reader) { check(reader.device.click(item)); });
          },
          "item"_a, "An item was opened. Stays here.")
      .def(
          "recommend",
          [](GuardedReader& self, std::size_t count) {
            if (count < 1 || count > 1000)
              throw InputError(fmt::format("count is {}, must be 1 to 1000", count));
            return self.use(
                [&](Reader& reader) { return value_of(reader.device.recommend(reader.way(), count)); });
          },
          "count"_a = 10, "A page for this reader, ranked here.")
      .def(
          "statement",
          [](GuardedReader& self) {
            const auto text = self.use(
                [](Reader& reader) { return privacy::to_json(value_of(reader.device.statement())); });
            return to_python(nlohmann::json::parse(text));
          },
          nb::sig("def statement(self) -> dict[str, typing.Any]"), "What was told, and what is left.")
      .def(
          "agree",
          [](GuardedReader& self, const std::string& purpose, bool asking, bool training) {
            self.use([&](Reader& reader) {
              reader.way();
              check(reader.device.agree(
                  reader.device.terms(reader.url, purpose, {.training = training, .asking = asking})));
            });
          },
          "purpose"_a, nb::kw_only(), "asking"_a = true, "training"_a = false,
          "The reader was shown what this device may tell its server under its settings, and for what, and "
          "said yes. Before that it asks nothing.")
      .def(
          "withdraw",
          [](GuardedReader& self) { self.use([](Reader& reader) { check(reader.device.withdraw()); }); },
          "Nothing is sent any more. What was read stays until it is forgotten.")
      .def_prop_ro("agreed",
                   [](GuardedReader& self) {
                     return self.use([](Reader& reader) { return reader.device.consent().has_value(); });
                   })
      .def(
          "forget_reading",
          [](GuardedReader& self) {
            self.use([](Reader& reader) { check(reader.device.forget_reading()); });
          },
          "Forgets clicks, pages and answers. What was told stays told and charged.")
      .def(
          "forget_item",
          [](GuardedReader& self, const std::string& item) {
            self.use([&](Reader& reader) { check(reader.device.forget_item(item)); });
          },
          "item"_a,
          "Forgets what was read of one item. The answer that was drawn before stays until its period is "
          "over.")
      .def_prop_ro(
          "clicks",
          [](GuardedReader& self) { return self.use([](Reader& reader) { return reader.device.clicks(); }); })
      .def_prop_ro("pack_version", [](GuardedReader& self) {
        return self.use([](Reader& reader) { return reader.device.pack_version(); });
      });
  module.def(
      "device_settings",
      [] {
        device::DeviceSettings settings;
        SettingsTable table;
        settings.bind(table);
        return rows_of(table);
      },
      nb::sig("def device_settings() -> list[tuple[str, str, str, str, str]]"), "Settings of a device.");
}

void bind_http(nb::module_& module) {
  nb::class_<GuardedClient>(
      module, "HttpClient",
      "HTTP/1.1 to one server: no cookies, no user agent, no redirects, limits on time and size.")
      .def(
          "__init__",
          [](GuardedClient* made, const std::string& url, const std::optional<fs::path>& authorities,
             double timeout) {
            new (made)
                GuardedClient(value_of(net::HttpClient::create(client_settings(url, authorities, timeout))));
          },
          "url"_a, nb::kw_only(), "authorities"_a = nb::none(), "timeout"_a = 30.0,
          nb::sig("def __init__(self, url: str, *, authorities: str | os.PathLike[str] | None = None, "
                  "timeout: float = 30.0) -> None"))
      .def(
          "send",
          [](GuardedClient& client, const std::string& method, const std::string& path, const nb::bytes& body,
             const std::string& content_type,
             const std::vector<std::pair<std::string, std::string>>& headers) {
            const std::string sent(static_cast<const char*>(body.data()), body.size());
            net::HttpClient::Call call;
            call.method = value_of([&]() -> Result<net::HttpMethod> {
              for (const auto known : {net::HttpMethod::get, net::HttpMethod::post, net::HttpMethod::put,
                                       net::HttpMethod::remove})
                if (name(known) == method) return known;
              return bad_input("method is '{}', must be GET, POST, PUT or DELETE", method);
            }());
            call.path = path;
            call.body = sent;
            call.content_type = content_type;
            call.headers = headers;
            refuse_control_characters(call);
            const auto answer = client.use([&](net::HttpClient& http) { return value_of(http.send(call)); });
            return nb::make_tuple(answer.status, nb::bytes(answer.bytes().data(), answer.bytes().size()));
          },
          "method"_a, "path"_a, "body"_a = nb::bytes("", 0), "content_type"_a = "",
          "headers"_a = std::vector<std::pair<std::string, std::string>>{},
          nb::sig(
              "def send(self, method: str, path: str, body: bytes = b'', content_type: str = '', headers: "
              "collections.abc.Sequence[tuple[str, str]] = ()) -> tuple[int, bytes]"),
          "Status and body of the answer; any status is an answer.");
}

}  // namespace

void bind_device(nb::module_& module) {
  bind_devices(module);
  bind_http(module);
}

}  // namespace sotto::python
