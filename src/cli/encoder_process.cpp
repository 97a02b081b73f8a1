#ifdef SOTTO_HAVE_NET

#include "cli/encoder_process.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <iterator>
#include <system_error>

#include "base/byte_codec.h"
#include "base/interrupt.h"
#include "base/thread_pool.h"
#include "cli/hand_over.h"

namespace sotto::cli {

namespace {

using serving::CatalogueItem;

tl::unexpected<Error> trainer_failure(const char* what) {
  return failed("{} the trainer: {}", what, std::error_code(errno, std::generic_category()).message());
}

Status send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return trainer_failure("cannot write to");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Status receive_all(int socket, std::span<char> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::read(socket, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return trainer_failure("cannot read from");
    if (got == 0) return failed("the trainer has ended");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

// Until there is something to read. A run may take long to open, so Ctrl-C ends that; articles that were
// taken are read to their end, but not for ever.
enum class Patience { until_interrupted, ten_minutes };
Status wait_for(int socket, Patience patience) {
  constexpr int look_again_ms = 100;
  constexpr int most_looks = 6000;
  pollfd ready{socket, POLLIN, 0};
  for (int looks = 0;; ++looks) {
    const int changed = ::poll(&ready, 1, look_again_ms);
    if (changed > 0) return {};
    if (changed < 0 && errno != EINTR) return trainer_failure("cannot wait for");
    if (patience == Patience::until_interrupted && interrupted()) return failed("interrupted");
    if (patience == Patience::ten_minutes && looks == most_looks)
      return failed("the trainer did not answer within ten minutes");
  }
}

Error said_by_trainer(Frame frame) {
  return {frame.kind == FrameKind::bad_input ? ErrorKind::bad_input : ErrorKind::failed,
          std::move(frame.body)};
}

constexpr std::string CatalogueItem::*article_texts[] = {
    &CatalogueItem::title, &CatalogueItem::abstract, &CatalogueItem::category, &CatalogueItem::subcategory};

}  // namespace

Status send_frame(int socket, const Frame& frame) {
  ByteWriter head;
  head.number(static_cast<std::uint32_t>(frame.body.size() + 1));
  head.number(static_cast<std::uint8_t>(frame.kind));
  SOTTO_CHECK(send_all(socket, head.bytes()));
  return send_all(socket, frame.body);
}

Result<Frame> receive_frame(int socket) {
  char head[sizeof(std::uint32_t)];
  SOTTO_CHECK(receive_all(socket, head));
  const auto length = ByteReader({head, sizeof head}).number<std::uint32_t>();
  if (length == 0 || length > most_frame_bytes) return failed("the trainer sent a frame of {} bytes", length);
  char kind = 0;
  SOTTO_CHECK(receive_all(socket, {&kind, 1}));
  Frame frame{static_cast<FrameKind>(kind), std::string(length - 1, '\0')};
  SOTTO_CHECK(receive_all(socket, frame.body));
  return frame;
}

Frame error_frame(const Error& error) {
  return {error.kind == ErrorKind::bad_input ? FrameKind::bad_input : FrameKind::failed, error.message};
}

std::string articles_body(std::span<const CatalogueItem> articles) {
  ByteWriter body;
  body.number(static_cast<std::uint32_t>(articles.size()));
  for (const CatalogueItem& article : articles)
    for (const auto text : article_texts) body.long_text(article.*text);
  return std::move(body).take();
}

Result<std::vector<CatalogueItem>> parse_articles(std::string_view bytes) {
  ByteReader body(bytes);
  const auto count = body.number<std::uint32_t>();
  if (count > most_articles) return failed("{} articles in one frame", count);
  std::vector<CatalogueItem> articles(count);
  for (CatalogueItem& article : articles)
    for (const auto text : article_texts) article.*text = body.long_text();
  if (!body.good()) return failed("the articles of a frame are cut off");
  if (body.left() > 0) return failed("{} bytes too many behind the articles", body.left());
  return articles;
}

std::string vectors_body(std::span<const std::vector<float>> vectors) {
  ByteWriter body;
  body.number(static_cast<std::uint32_t>(vectors.size()));
  body.number(static_cast<std::uint32_t>(vectors.empty() ? 0 : vectors.front().size()));
  for (const auto& vector : vectors)
    for (const float value : vector) body.number(std::bit_cast<std::uint32_t>(value));
  return std::move(body).take();
}

Result<std::vector<std::vector<float>>> parse_vectors(std::string_view bytes) {
  ByteReader body(bytes);
  const auto count = body.number<std::uint32_t>(), width = body.number<std::uint32_t>();
  if (!body.good() || count > most_articles || width > serving::most_vector_numbers ||
      body.left() != std::size_t{count} * width * sizeof(float))
    return failed("the trainer sent {} bytes for {} vectors of {} numbers", body.left(), count, width);
  std::vector<std::vector<float>> vectors(count, std::vector<float>(width));
  for (auto& vector : vectors)
    for (float& value : vector) value = std::bit_cast<float>(body.number<std::uint32_t>());
  return vectors;
}

Result<std::string> EncoderProcess::make_pack(const fs::path& pack_file,
                                              const serving::ServedRunSettings& settings) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> arguments = {"--pack", pack_file.string()};
  serving::ServedRunSettings copy = settings;
  SettingsTable table;
  copy.bind(table);
  for (const auto& row : table.rows())
    arguments.insert(arguments.end(), {"--set", row.name + "=" + row.value});
  return start(arguments);
}

Result<std::string> EncoderProcess::start(const std::vector<std::string>& more_arguments) const {
  end();
  SOTTO_TRY(const fs::path program, trainer_program());
  std::vector<std::string> words = {"sotto",   "--quiet",     "--threads", std::to_string(thread_count()),
                                    "publish", run_.string(), "--data",    data_.string()};
  words.insert(words.end(), more_arguments.begin(), more_arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return trainer_failure("cannot make a socket for");
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t process = -1;
  errno = ::posix_spawn(&process, program.c_str(), &files, &attributes, argv.data(), environ);
  const bool spawned = errno == 0;
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  ::close(ends[1]);
  if (!spawned) {
    ::close(ends[0]);
    return trainer_failure("cannot start");
  }
  socket_ = ends[0];
  process_ = process;

  auto ready = [&]() -> Result<Frame> {
    SOTTO_CHECK(wait_for(socket_, Patience::until_interrupted));
    return receive_frame(socket_);
  }();
  if (ready && ready->kind == FrameKind::ready) return std::move(ready->body);
  end();
  return tl::unexpected(ready ? said_by_trainer(std::move(*ready)) : std::move(ready).error());
}

Result<std::vector<std::vector<float>>> EncoderProcess::encode(std::span<const CatalogueItem> items) const {
  const std::lock_guard lock(mutex_);
  if (socket_ < 0) {
    std::error_code missing;
    if (fs::last_write_time(run_ / "best.sotto", missing) != trained_ || missing)
      return failed("{} was trained on, or replaced, after its pack was made", run_.string());
    SOTTO_CHECK(start({}));
  }
  std::vector<std::vector<float>> vectors;
  vectors.reserve(items.size());
  while (!items.empty()) {
    const auto batch = items.first(std::min(items.size(), most_articles));
    SOTTO_TRY(auto encoded, encode_batch(batch));
    std::move(encoded.begin(), encoded.end(), std::back_inserter(vectors));
    items = items.subspan(batch.size());
  }
  return vectors;
}

Result<std::vector<std::vector<float>>> EncoderProcess::encode_batch(
    std::span<const CatalogueItem> items) const {
  auto answer = [&]() -> Result<Frame> {
    SOTTO_CHECK(send_frame(socket_, {FrameKind::articles, articles_body(items)}));
    SOTTO_CHECK(wait_for(socket_, Patience::ten_minutes));
    return receive_frame(socket_);
  }();
  if (answer && answer->kind != FrameKind::vectors)
    return tl::unexpected(said_by_trainer(std::move(*answer)));
  auto vectors = answer ? parse_vectors(answer->body) : tl::unexpected(std::move(answer).error());
  if (vectors && vectors->size() != items.size())
    vectors = failed("the trainer sent {} vectors for {} articles", vectors->size(), items.size());
  if (!vectors) end();  // what it says next belongs to this question
  return vectors;
}

void EncoderProcess::end() const {
  if (socket_ < 0) return;
  ::close(socket_);
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  socket_ = process_ = -1;
}

}  // namespace sotto::cli

#endif
