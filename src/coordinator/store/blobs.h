#pragma once
// Blobs by their SHA-256. Thread-safe. Readers compare the bytes with their name.

#include <filesystem>
#include <memory>
#include <string>

#include "coordinator/store/connection.h"

namespace sotto::coordinator {

class Blobs {
 public:
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

  virtual ~Blobs() = default;
  Result<Digest> keep(std::string_view bytes);
  Result<std::string> read(const Digest& hash);
  // Of a blob that is there.
  virtual Result<std::optional<std::uint64_t>> size(const Digest& hash) = 0;

 protected:
  virtual Status write_as(const Digest& hash, std::string_view bytes) = 0;
  virtual Result<std::string> read_unchecked(const Digest& hash) = 0;
};

// blobs/<hash>, written beside and renamed when complete.
Result<std::unique_ptr<Blobs>> blobs_in_folder(const std::filesystem::path& folder);
// Rows of a database that several nodes share.
std::unique_ptr<Blobs> blobs_in_table(std::unique_ptr<Connection> connection);

}  // namespace sotto::coordinator
