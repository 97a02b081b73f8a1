#include "cli/operator_token.h"

#include "base/secret_file.h"

namespace sotto::cli {

Result<std::string> read_operator_token(const fs::path& path) {
  SOTTO_CHECK(check_secret_file(path));
  SOTTO_TRY(std::string token, read_file(path, 4096));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  if (token.size() < 16)
    return bad_input("{} holds fewer than 16 characters: make a longer token", path.string());
  return token;
}

}  // namespace sotto::cli
