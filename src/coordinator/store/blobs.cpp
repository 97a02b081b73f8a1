#include "coordinator/store/blobs.h"

#include <sodium.h>

#include "base/chain_hash.h"
#include "base/make_folder.h"

namespace sotto::coordinator {

namespace {

Digest sha256_of(std::string_view bytes) {
  Digest hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  return hash;
}

class FolderBlobs final : public Blobs {
 public:
  explicit FolderBlobs(fs::path folder) : folder_(std::move(folder)) {}

  Result<std::optional<std::uint64_t>> size(const Digest& hash) override {
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(file_of(hash), error);
    if (error == std::errc::no_such_file_or_directory) return std::optional<std::uint64_t>();
    if (error) return failed("cannot look at the blob {}: {}", file_of(hash).string(), error.message());
    return bytes;
  }

 protected:
  Status write_as(const Digest& hash, std::string_view bytes) override {
    return write_file_atomically(file_of(hash), bytes, FileReaders::owner);
  }
  Result<std::string> read_unchecked(const Digest& hash) override {
    SOTTO_TRY(const MappedFile file, MappedFile::open(file_of(hash)));
    return std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  }

 private:
  fs::path file_of(const Digest& hash) const { return folder_ / to_hex(hash); }
  fs::path folder_;
};

class TableBlobs final : public Blobs {
 public:
  explicit TableBlobs(std::unique_ptr<Connection> connection) : door_(std::move(connection)) {}

  Result<std::optional<std::uint64_t>> size(const Digest& hash) override {
    SOTTO_TRY(const SqlAnswer found, door_.ask("SELECT size FROM blobs WHERE hash = $1", {sql_bytes(hash)}));
    if (found.rows.empty()) return std::optional<std::uint64_t>();
    return found.rows[0].number(0);
  }

 protected:
  Status write_as(const Digest& hash, std::string_view bytes) override {
    return door_.write([&](Connection& database) -> Status {
      SOTTO_CHECK(database.run("INSERT INTO blobs(hash, size) VALUES($1, $2) ON CONFLICT DO NOTHING",
                               {sql_bytes(hash), static_cast<std::int64_t>(bytes.size())}));
      // Parts that are not as they should be are replaced.
      SOTTO_CHECK(database.run("DELETE FROM blob_parts WHERE hash = $1", {sql_bytes(hash)}));
      for (std::size_t at = 0, part = 0; at < bytes.size(); at += part_bytes, ++part)
        SOTTO_CHECK(database.run(
            "INSERT INTO blob_parts(hash, part, bytes) VALUES($1, $2, $3)",
            {sql_bytes(hash), static_cast<std::int64_t>(part), SqlBytes{bytes.substr(at, part_bytes)}}));
      return {};
    });
  }
  Result<std::string> read_unchecked(const Digest& hash) override {
    SOTTO_TRY(const SqlAnswer parts,
              door_.ask("SELECT bytes FROM blob_parts WHERE hash = $1 ORDER BY part", {sql_bytes(hash)}));
    std::string bytes;
    for (const SqlRow& row : parts.rows) {
      SOTTO_TRY(const std::string part, row.bytes(0));
      bytes += part;
    }
    return bytes;
  }

 private:
  static constexpr std::size_t part_bytes = std::size_t{1} << 20;
  Door door_;
};

}  // namespace

Result<Digest> Blobs::keep(std::string_view bytes) {
  if (bytes.size() > most_bytes)
    return bad_input("a blob of {} bytes is too large: at most {} are kept", bytes.size(), most_bytes);
  const Digest hash = sha256_of(bytes);
  SOTTO_TRY(const auto there, size(hash));
  if (there && read(hash)) return hash;
  SOTTO_CHECK(write_as(hash, bytes));
  return hash;
}

Result<std::string> Blobs::read(const Digest& hash) {
  SOTTO_TRY(const auto there, size(hash));
  if (!there) return bad_input("there is no blob {}", to_hex(hash));
  if (*there > most_bytes)
    return failed("the blob {} has {} bytes, and at most {} are kept: restore it from a backup", to_hex(hash),
                  *there, most_bytes);
  SOTTO_TRY(std::string bytes, read_unchecked(hash));
  if (sha256_of(bytes) != hash)
    return failed("the blob {} is damaged: restore it from a backup", to_hex(hash));
  return bytes;
}

Result<std::unique_ptr<Blobs>> blobs_in_folder(const std::filesystem::path& folder) {
  SOTTO_CHECK(make_folder(folder));
  return std::make_unique<FolderBlobs>(folder);
}

std::unique_ptr<Blobs> blobs_in_table(std::unique_ptr<Connection> connection) {
  return std::make_unique<TableBlobs>(std::move(connection));
}

}  // namespace sotto::coordinator
