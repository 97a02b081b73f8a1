#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bindings/bindings.h"

namespace sotto::python {

namespace {

// What is no text is a TypeError, and text that no file could hold (half of a character) a
// UnicodeEncodeError.
std::string text_of(nb::handle text) {
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes == nullptr) throw nb::python_error();
  return {bytes, static_cast<std::size_t>(size)};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> settings_of(const nb::kwargs& given) {
  std::vector<std::pair<std::string, std::string>> settings;
  const nb::object index = nb::module_::import_("operator").attr("index");
  for (const auto& [key, value] : given) {
    const std::string name = text_of(key);
    if (value.is_none()) continue;
    if (nb::isinstance<nb::bool_>(value))
      settings.emplace_back(name, nb::cast<bool>(value) ? "true" : "false");
    else if (nb::isinstance<nb::str>(value))
      settings.emplace_back(name, text_of(value));
    else if (nb::hasattr(value, "__index__"))
      settings.emplace_back(name, text_of(nb::str(index(value))));
    else if (nb::hasattr(value, "__float__"))
      settings.emplace_back(name, fmt::format("{}", PyFloat_AsDouble(value.ptr())));
    else if (nb::hasattr(value, "__fspath__"))
      settings.emplace_back(name, text_of(value.attr("__fspath__")()));
    else
      throw nb::type_error(fmt::format("{} takes text, a number or a truth value", name).c_str());
    if (PyErr_Occurred()) throw nb::python_error();
  }
  return settings;
}

void apply_settings(const std::vector<std::pair<std::string, std::string>>& settings, SettingsTable& table) {
  for (const auto& [name, value] : settings) check(table.set(name, value));
}

nb::list rows_of(const SettingsTable& table) {
  nb::list rows;
  for (const auto& row : table.rows())
    rows.append(nb::make_tuple(row.name, row.type, row.default_value, row.allowed, row.help));
  return rows;
}

nb::object to_python(const nlohmann::json& value) {
  switch (value.type()) {
    case nlohmann::json::value_t::object: {
      nb::dict made;
      for (const auto& [key, inner] : value.items()) made[key.c_str()] = to_python(inner);
      return std::move(made);
    }
    case nlohmann::json::value_t::array: {
      nb::list made;
      for (const auto& inner : value) made.append(to_python(inner));
      return std::move(made);
    }
    case nlohmann::json::value_t::string:
      return nb::cast(value.get<std::string>());
    case nlohmann::json::value_t::boolean:
      return nb::cast(value.get<bool>());
    case nlohmann::json::value_t::number_integer:
      return nb::cast(value.get<std::int64_t>());
    case nlohmann::json::value_t::number_unsigned:
      return nb::cast(value.get<std::uint64_t>());
    case nlohmann::json::value_t::number_float:
      return nb::cast(value.get<double>());
    default:
      return nb::none();
  }
}

}  // namespace sotto::python
