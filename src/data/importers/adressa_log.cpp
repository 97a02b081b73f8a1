#include "data/importers/adressa_log.h"

#include "data/importers/field_values.h"
#include "data/importers/json_members.h"

namespace sotto {

namespace {

class ViewCollector final : public JsonVisitor {
 public:
  void member(std::size_t depth, std::string_view key, const JsonScalar& value) override {
    if (depth != 1) return;
    if (value.kind == JsonScalar::Kind::number) {
      if (key == "time") time_ = parse_time(value.text, TimeFormat::unix_seconds);
      return;
    }
    if (value.kind != JsonScalar::Kind::text) return;
    if (key == "userId") view_.user = value.text;
    if (key == "id") view_.article = value.text;
    if (key == "title") view_.title = value.text;
    if (key == "keywords") view_.keywords = value.text;
    if (key == "publishtime") view_.published = parse_time(value.text, TimeFormat::iso);
    if (key == "category1") set_categories(value.text);
  }
  void object_end(std::size_t /*depth*/) override {}

  Result<std::optional<AdressaView>> take() {
    if (view_.article.empty()) return std::optional<AdressaView>();
    if (view_.user.empty()) return bad_input("no userId");
    if (!time_) return bad_input("no time in seconds since 1970");
    view_.time = *time_;
    return std::optional(std::move(view_));
  }

 private:
  // "nyheter|trondheim": from the whole to the part.
  void set_categories(std::string_view path) {
    const std::size_t bar = path.find('|');
    view_.category = path.substr(0, bar);
    if (bar == std::string_view::npos) return;
    path.remove_prefix(bar + 1);
    view_.subcategory = path.substr(0, path.find('|'));
  }

  AdressaView view_;
  std::optional<std::int64_t> time_;
};

}  // namespace

Result<std::optional<AdressaView>> parse_adressa_line(std::string_view line) {
  ViewCollector collector;
  SOTTO_CHECK(visit_json(line, JsonRoot::object, collector));
  return collector.take();
}

}  // namespace sotto
