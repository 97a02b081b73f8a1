#include "data/importers/json_members.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sotto {

namespace {

constexpr std::size_t max_depth = 32;

// The parser itself keeps its stack on the heap; the limit bounds what a hostile line can make it keep.
class MemberHandler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  MemberHandler(JsonRoot root, JsonVisitor& visitor) : root_(root), visitor_(visitor) {}
  const std::string& problem() const { return problem_; }

  bool null() override { return scalar({JsonScalar::Kind::other, {}}); }
  bool boolean(bool /*value*/) override { return scalar({JsonScalar::Kind::other, {}}); }
  bool number_integer(number_integer_t value) override { return number(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(std::to_string(value)); }
  bool number_float(number_float_t /*value*/, const string_t& written) override { return number(written); }
  bool string(string_t& value) override { return scalar({JsonScalar::Kind::text, value}); }
  bool binary(binary_t& /*value*/) override { return refuse("binary values are not JSON"); }

  bool start_object(std::size_t /*elements*/) override { return enter(true); }
  bool start_array(std::size_t /*elements*/) override { return enter(false); }
  bool key(string_t& value) override {
    key_.swap(value);
    return true;
  }
  bool end_object() override {
    visitor_.object_end(inside_object_.size());
    inside_object_.pop_back();
    return true;
  }
  bool end_array() override {
    inside_object_.pop_back();
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return refuse(fmt::format("not JSON from character {}", position));
  }

 private:
  bool refuse(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  bool enter(bool object) {
    if (inside_object_.empty() && object != (root_ == JsonRoot::object)) return refuse(wrong_root());
    if (inside_object_.size() >= max_depth) return refuse("JSON nested too deep");
    inside_object_.push_back(object);
    return true;
  }
  bool number(const std::string& written) { return scalar({JsonScalar::Kind::number, written}); }
  bool scalar(const JsonScalar& value) {
    if (inside_object_.empty()) return refuse(wrong_root());
    if (inside_object_.back()) visitor_.member(inside_object_.size(), key_, value);
    return true;
  }
  std::string wrong_root() const {
    return root_ == JsonRoot::object ? "not a JSON object" : "not a JSON list";
  }

  JsonRoot root_;
  JsonVisitor& visitor_;
  std::vector<bool> inside_object_;
  std::string key_, problem_;
};

}  // namespace

Status visit_json(std::string_view document, JsonRoot root, JsonVisitor& visitor) {
  MemberHandler handler(root, visitor);
  try {
    if (nlohmann::json::sax_parse(document.begin(), document.end(), &handler)) return {};
  } catch (const nlohmann::json::exception& error) {
    return bad_input("not JSON: {}", error.what());
  }
  return bad_input("{}", handler.problem());
}

}  // namespace sotto
