// What the device's libraries ask of a system and a browser has otherwise: randomness, second names of files,
// threads.

#include <emscripten.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/thread_pool.h"

// The browser's generator, or nothing: there is no other source of randomness here.
EM_JS(int, sotto_random_values, (unsigned char* place, unsigned length), {
  if (typeof crypto != 'object' || typeof crypto.getRandomValues != 'function') return 0;
  crypto.getRandomValues(HEAPU8.subarray(place, place + length));
  return 1;
});

extern "C" ssize_t getrandom(void* place, size_t length, unsigned) {
  constexpr size_t at_once = 65'536;  // more is refused by browsers
  const size_t taken = length < at_once ? length : at_once;
  if (sotto_random_values(static_cast<unsigned char*>(place), static_cast<unsigned>(taken)) == 0) {
    errno = ENOSYS;
    return -1;
  }
  return static_cast<ssize_t>(taken);
}

// Files live in memory and have one name each. Whoever links a file to a name that must not exist yet, and
// then lets the first name go, is served by a copy: nobody else is there to see the moment between.
extern "C" int link(const char* from, const char* to) {
  struct stat found {};
  if (stat(to, &found) == 0) {
    errno = EEXIST;
    return -1;
  }
  if (stat(from, &found) != 0) return -1;
  const int source = open(from, O_RDONLY);
  if (source < 0) return -1;
  const int copy = open(to, O_WRONLY | O_CREAT | O_EXCL, found.st_mode & 0777);
  bool done = copy >= 0;
  char bytes[4096];
  ssize_t got = 0;
  while (done && (got = read(source, bytes, sizeof bytes)) > 0) done = write(copy, bytes, got) == got;
  close(source);
  if (copy >= 0) close(copy);
  return done && got == 0 ? 0 : -1;
}

namespace sotto {

void set_thread_count(int) {}
int thread_count() { return 1; }

// In the same chunks as with threads.
void parallel_for(std::size_t n, std::size_t grain,
                  const std::function<void(std::size_t, std::size_t)>& body) {
  if (grain == 0) grain = n;
  for (std::size_t begin = 0; begin < n; begin += grain) body(begin, begin + grain < n ? begin + grain : n);
}

void yield_to_other_threads() {}

}  // namespace sotto
