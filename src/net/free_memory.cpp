#include "net/free_memory.h"

#include <malloc.h>

#include <cstddef>

// jemalloc's, where the program is linked with it.
extern "C" __attribute__((weak)) int mallctl(const char* name, void* old_value, std::size_t* old_size,
                                             void* new_value, std::size_t new_size);

namespace sotto::net {

void return_free_memory() {
  if (mallctl != nullptr) {
    mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);  // 4096: all arenas
  } else {
    malloc_trim(0);
  }
}

void keep_little_free_memory() {
  constexpr int most_at_the_top = 128 << 10;  // glibc's own, before it learns
  if (mallctl == nullptr) mallopt(M_TRIM_THRESHOLD, most_at_the_top);
}

}  // namespace sotto::net
