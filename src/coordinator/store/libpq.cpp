#include "coordinator/store/libpq.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <mutex>

namespace sotto::coordinator {

namespace {

LibPq loaded;
std::string why_not;
std::once_flag tried;

void load() {
  void* const library = ::dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    why_not = ::dlerror();
    return;
  }
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (function == nullptr) why_not = fmt::format("it has no {}", name);
    return function != nullptr;
  };
  const bool complete =
      find("PQclear", loaded.PQclear) && find("PQcmdTuples", loaded.PQcmdTuples) &&
      find("PQconnectdbParams", loaded.PQconnectdbParams) && find("PQconninfoFree", loaded.PQconninfoFree) &&
      find("PQconninfoParse", loaded.PQconninfoParse) && find("PQerrorMessage", loaded.PQerrorMessage) &&
      find("PQexec", loaded.PQexec) && find("PQexecPrepared", loaded.PQexecPrepared) &&
      find("PQfinish", loaded.PQfinish) && find("PQfreemem", loaded.PQfreemem) &&
      find("PQftype", loaded.PQftype) && find("PQgetisnull", loaded.PQgetisnull) &&
      find("PQgetlength", loaded.PQgetlength) && find("PQgetvalue", loaded.PQgetvalue) &&
      find("PQnfields", loaded.PQnfields) && find("PQntuples", loaded.PQntuples) &&
      find("PQprepare", loaded.PQprepare) && find("PQresultErrorField", loaded.PQresultErrorField) &&
      find("PQresultStatus", loaded.PQresultStatus) &&
      find("PQsetNoticeProcessor", loaded.PQsetNoticeProcessor) && find("PQstatus", loaded.PQstatus) &&
      find("PQtransactionStatus", loaded.PQtransactionStatus);
  static_cast<void>(complete);
}

}  // namespace

Status load_libpq() {
  std::call_once(tried, load);
  if (why_not.empty()) return {};
  return failed("PostgreSQL's client library cannot be used ({}): install libpq5", why_not);
}

const LibPq& pq() { return loaded; }

}  // namespace sotto::coordinator
