#pragma once
// The trainer as a process beside a server, so that the server itself never loads libtorch.
//
// Its stdin and stdout are one socket, with frames in both directions:
//
//   length   4 bytes, of what follows; at most most_frame_bytes
//   kind     1 byte
//   body     ready: what the caller waits for at first
//            articles, vectors: encoder_process.h; folded, sums: fold_process.h
//            bad_input, failed: what went wrong
//
// Little-endian (base/byte_codec.h). The trainer keeps nothing else of the server open, is in a process group
// of its own, so that Ctrl-C ends the server first, and has nothing that could be lost: it is ended by a
// kill.

#include <functional>
#include <string>
#include <vector>

#include "base/files.h"

namespace sotto::cli {

enum class FrameKind : char {
  ready = 'r',
  articles = 'a',
  vectors = 'v',
  folded = 'n',
  sums = 's',
  bad_input = 'b',
  failed = 'f'
};
struct Frame {
  FrameKind kind = FrameKind::failed;
  std::string body;
};
constexpr std::size_t most_frame_bytes = std::size_t{1} << 30;

Status send_frame(int socket, const Frame& frame);
// An error at the end of the stream too.
Result<Frame> receive_frame(int socket);
Frame error_frame(const Error& error);
// What an error frame says.
Error said_by_trainer(Frame frame);

// Movable; ends the process with the object. One caller at a time.
class TrainerProcess {
 public:
  // words: the trainer's arguments behind the name of the program. shown: its bars are seen where this
  // process's would be; who waits for it wants to know how far it is.
  static Result<TrainerProcess> start(const std::vector<std::string>& words, bool shown = false);
  TrainerProcess(TrainerProcess&& other) noexcept;
  TrainerProcess& operator=(TrainerProcess&& other) noexcept;
  ~TrainerProcess() { end(); }

  // Ctrl-C ends the waiting, or ten minutes do: what was taken is read to its end, but not for ever.
  enum class Patience { until_interrupted, ten_minutes };
  Result<Frame> receive(Patience patience);
  // Until somebody says that nobody waits any more.
  Result<Frame> receive(const std::function<bool()>& given_up);
  Status send(const Frame& frame) { return send_frame(socket_, frame); }

 private:
  TrainerProcess(int socket, int process) : socket_(socket), process_(process) {}
  Result<Frame> receive();  // an end of the stream says what the process ended by
  void end();
  int socket_ = -1;   // -1: moved from
  int process_ = -1;  // -1: it has ended too
};

}  // namespace sotto::cli
