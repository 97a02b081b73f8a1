#ifdef SOTTO_HAVE_PROTOCOL

#include "cli/token_files.h"

#include <sodium.h>

#include "base/chain_hash.h"
#include "base/random.h"
#include "base/secret_file.h"

namespace sotto::cli {

std::string new_token(bool first_use, rounds::UtcTime expires, const rounds::Identity& operator_key) {
  SecureRandom random;
  rounds::EnrolmentToken token{{}, first_use, expires};
  const auto id = secagg::Key::random(privacy::DeviceRandom(random));
  std::copy(id.view().begin(), id.view().end(), token.id.begin());
  return rounds::sign_token(token, operator_key);
}

Status write_tokens(const fs::path& path, std::size_t count, bool first_use, rounds::UtcTime expires,
                    const rounds::Identity& operator_key) {
  if (fs::exists(path)) return bad_input("{} is there already: name another file", path.string());
  std::string lines;
  for (std::size_t i = 0; i < count; ++i)
    lines += to_hex(rounds::as_bytes(new_token(first_use, expires, operator_key))) + "\n";
  return write_file_atomically(path, lines, FileReaders::owner);
}

Result<std::string> token_from_hex(std::string_view text) {
  std::string bytes(text.size() / 2, '\0');
  std::size_t written = 0;
  const char* end = nullptr;
  if (text.size() % 2 != 0 || text.size() > 2 * rounds::token_kind.most_bytes + 256 ||
      sodium_hex2bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(), text.size(),
                     nullptr, &written, &end) != 0 ||
      written != bytes.size() || end != text.data() + text.size())
    return bad_input("an enrolment token is a line of hexadecimal digits, as 'sotto campaign tokens' writes");
  SOTTO_CHECK(rounds::open_token(bytes));
  return bytes;
}

Result<std::vector<std::string>> read_tokens(const fs::path& path) {
  SOTTO_CHECK(check_secret_file(path));
  SOTTO_TRY(auto reader, LineReader::open(path, 4096));
  std::vector<std::string> tokens;
  for (std::string_view line;;) {
    SOTTO_TRY(const bool more, reader.next(line));
    if (!more) return tokens;
    if (line.empty()) continue;
    auto token = token_from_hex(line);
    if (!token)
      return tl::unexpected(
          std::move(token).error().in(fmt::format("{}, line {}", path.string(), reader.line_number())));
    tokens.push_back(*std::move(token));
  }
}

}  // namespace sotto::cli

#endif
