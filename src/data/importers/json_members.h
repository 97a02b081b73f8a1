#pragma once
// Walks one JSON document and hands out the scalar members of its objects, without building a tree.

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace sotto {

struct JsonScalar {
  enum class Kind { text, number, other };  // other: true, false, null
  Kind kind;
  std::string_view text;  // the string, or the number as written
};

// Receives members in document order. Views live during the call only.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  // `depth` counts the objects and arrays around the member: 1 in {"a": 1}, 2 in [{"a": 1}].
  virtual void member(std::size_t depth, std::string_view key, const JsonScalar& value) = 0;
  // After the last member of an object at `depth`.
  virtual void object_end(std::size_t depth) = 0;
};

enum class JsonRoot { object, array };

// An error says what is wrong with the document: not JSON, another kind of root, nested too deep.
Status visit_json(std::string_view document, JsonRoot root, JsonVisitor& visitor);

}  // namespace sotto
