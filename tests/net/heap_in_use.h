#pragma once
// What this process has allocated and not freed, by the allocator's own account; and what it has of the
// system's memory.

#include <malloc.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif

namespace sotto::net {

inline std::int64_t heap_in_use() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return static_cast<std::int64_t>(__sanitizer_get_current_allocated_bytes());
#else
  const struct mallinfo2 now = mallinfo2();
  return static_cast<std::int64_t>(now.uordblks + now.hblkhd);
#endif
}

// Sanitizers keep what was freed, to catch whoever uses it: there the heap has to do.
inline std::int64_t resident_memory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return heap_in_use();
#else
  std::int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
#endif
}

}  // namespace sotto::net
