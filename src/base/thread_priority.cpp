#include "base/thread_priority.h"

#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace sotto {

void yield_to_other_threads() {
#ifdef __linux__
  constexpr int background = 5;  // of nice(1), for this thread alone
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), background);
#endif
}

}  // namespace sotto
