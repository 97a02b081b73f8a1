#pragma once
// What all files of the bindings share: one function per submodule, arrays without copies, settings by
// keyword.
//
// Work is done without the interpreter's lock; whatever touches Python objects comes before or after it.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.h"
#include "bindings/column.h"
#include "bindings/errors.h"

namespace sotto::python {

namespace nb = nanobind;

void bind_privacy(nb::module_& module);
void bind_ledger(nb::module_& privacy);
void bind_data(nb::module_& module);
void bind_metrics(nb::module_& module);
void bind_secagg(nb::module_& module);
void bind_device(nb::module_& module);

// A column that is handed out: NumPy looks at the memory of `owner`, which lives as long as the array. A
// property that returns one says rv_policy::reference: the default of properties would put another owner in
// its place.
template <class T>
using View = nb::ndarray<nb::numpy, const T, nb::ndim<1>>;

template <class T>
View<T> view_of(std::span<const T> values, nb::handle owner) {
  static const T none{};
  return View<T>(values.empty() ? &none : values.data(), {values.size()}, owner);
}

// A vector that is handed over: NumPy owns it from here on.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> array_of(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<T>*>(memory); });
  return {kept->data(), {kept->size()}, owner};
}

// Runs `work` without the interpreter's lock. It must not touch Python objects.
template <class Work>
auto unlocked(Work work) {
  const nb::gil_scoped_release released;
  return work();
}

// Something that one thread may use at a time, from Python's many: whoever comes second waits without the
// lock.
template <class T>
class Guarded {
 public:
  explicit Guarded(T value) : value_(std::move(value)) {}

  template <class Work>
  auto use(Work work) {
    return unlocked([&] {
      const std::lock_guard lock(mutex_);
      return work(value_);
    });
  }

 private:
  std::mutex mutex_;
  T value_;
};

// name=value as SettingsTable reads it. None is left out; what is neither text, number, truth nor path is a
// TypeError.
std::vector<std::pair<std::string, std::string>> settings_of(const nb::kwargs& given);
void apply_settings(const std::vector<std::pair<std::string, std::string>>& settings, SettingsTable& table);
// A record as Python reads it: (name, type, default, allowed, help) per setting.
nb::list rows_of(const SettingsTable& table);

// Dictionaries, lists and numbers.
nb::object to_python(const nlohmann::json& value);

}  // namespace sotto::python
