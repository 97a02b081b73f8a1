#pragma once
// Errors are values. A function that can fail returns Result<T>; the message says what is wrong and what to
// do.

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace sotto {

enum class ErrorKind {
  bad_input,  // wrong use, malformed file or message: the process exits with 2
  failed,     // the machine let us down (disk full, out of memory, interrupted): the process exits with 1
  conflict,   // contradicts what the same sender said before, which stands: HTTP 409
};

struct Error {
  ErrorKind kind = ErrorKind::failed;
  std::string message;

  // Puts "where: " in front of the message; used while an error travels up.
  Error in(std::string_view where) && {
    message = fmt::format("{}: {}", where, message);
    return std::move(*this);
  }
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

template <class... Args>
tl::unexpected<Error> bad_input(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(Error{ErrorKind::bad_input, fmt::format(format, std::forward<Args>(args)...)});
}

template <class... Args>
tl::unexpected<Error> failed(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(Error{ErrorKind::failed, fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace sotto

// A declaration cannot stand in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define SOTTO_CONCAT_INNER(a, b) a##b
#define SOTTO_CONCAT(a, b) SOTTO_CONCAT_INNER(a, b)

// SOTTO_TRY(auto lines, read_lines(path));  assigns the value or returns the error to the caller.
#define SOTTO_TRY(declaration, expression) \
  SOTTO_TRY_INNER(SOTTO_CONCAT(sotto_result_, __COUNTER__), declaration, expression)
#define SOTTO_TRY_INNER(result, declaration, expression)                         \
  auto result = (expression);                                                    \
  if (!result) return tl::unexpected<::sotto::Error>(std::move(result).error()); \
  declaration = std::move(*result)

// SOTTO_CHECK(write(...));  the same for Status.
#define SOTTO_CHECK(expression)                                               \
  do {                                                                        \
    if (auto sotto_status = (expression); !sotto_status)                      \
      return tl::unexpected<::sotto::Error>(std::move(sotto_status).error()); \
  } while (false)
// NOLINTEND(bugprone-macro-parentheses)
