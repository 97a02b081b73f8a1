#ifdef SOTTO_HAVE_PROTOCOL

#include "cli/key_files.h"

#include <sodium.h>

#include "base/chain_hash.h"
#include "base/random.h"
#include "base/secret_file.h"

namespace sotto::cli {

namespace {

constexpr std::string_view secret_line = "sotto secret key 1 ", public_line = "sotto public key 1 ";

// What stands behind the words of the line.
Result<rounds::Digest> key_after(std::string_view words, std::string_view text, const fs::path& path) {
  if (!text.starts_with(words) || !text.ends_with('\n'))
    return bad_input("{} holds no line '{}…': 'sotto campaign keys' makes such files", path.string(), words);
  text.remove_prefix(words.size());
  text.remove_suffix(1);
  auto key = rounds::digest_from_hex(text, "the key in " + path.string());
  // A slip in a secret must not be printed.
  if (!key)
    return bad_input("the key in {} is not 64 hexadecimal digits: take it from its copy", path.string());
  return key;
}

}  // namespace

Result<rounds::IdentityKey> write_key_files(const fs::path& secret) {
  fs::path open = secret;
  open += ".pub";
  for (const fs::path& path : {secret, open})
    if (fs::exists(path))
      return bad_input("{} is there already: a key that was used cannot be made again, name another file",
                       path.string());
  SecureRandom random;
  const rounds::Identity key = rounds::Identity::create(random);
  const secagg::Key seed = key.seed();
  std::string line = fmt::format("{}{}\n", secret_line, to_hex(seed.view()));
  const Status written = write_file_atomically(secret, line, FileReaders::owner);
  sodium_memzero(line.data(), line.size());
  SOTTO_CHECK(written);
  SOTTO_CHECK(write_file_atomically(open, fmt::format("{}{}\n", public_line, to_hex(key.public_key()))));
  return key.public_key();
}

Result<rounds::Identity> read_secret_key(const fs::path& path) {
  if (!fs::exists(path))
    return bad_input("there is no key {}: 'sotto campaign keys --out FILE' makes one", path.string());
  SOTTO_CHECK(check_secret_file(path));
  SOTTO_TRY(std::string text, read_file(path, 4096));
  auto seed = key_after(secret_line, text, path);
  sodium_memzero(text.data(), text.size());
  if (!seed) return tl::unexpected(std::move(seed).error());
  const secagg::Key secret{std::span<const std::uint8_t, 32>(*seed)};
  sodium_memzero(seed->data(), seed->size());
  return rounds::Identity::from_seed(secret);
}

Result<rounds::IdentityKey> read_public_key(const fs::path& path) {
  SOTTO_TRY(const std::string text, read_file(path, 4096));
  if (text.starts_with(secret_line))
    return bad_input("{} is a secret key: name the public one, {}.pub", path.string(), path.string());
  return key_after(public_line, text, path);
}

}  // namespace sotto::cli

#endif
