#pragma once
// Errors of the library as Python exceptions with the same text: InputError (a ValueError), FailedError and
// ConflictError (RuntimeErrors).

#include <stdexcept>
#include <string>
#include <utility>

#include "base/result.h"

namespace sotto::python {

struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct FailedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct ConflictError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void raise(const Error& error) {
  switch (error.kind) {
    case ErrorKind::bad_input:
      throw InputError(error.message);
    case ErrorKind::conflict:
      throw ConflictError(error.message);
    case ErrorKind::failed:
      break;
  }
  throw FailedError(error.message);
}

template <class T>
T value_of(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(*result);
}

inline void check(const Status& status) {
  if (!status) raise(status.error());
}

}  // namespace sotto::python
