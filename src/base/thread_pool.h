#pragma once
// A fixed pool of worker threads and a parallel loop over it.

#include <cstddef>
#include <functional>

namespace sotto {

// Threads used by parallel loops (and, in torch modules, by torch). Default: the cores this process may use.
// Set once at start-up (--threads).
void set_thread_count(int threads);
int thread_count();

// Calls body(begin, end) over disjoint chunks of [0, n), at most `grain` long (0: chosen), on the pool and
// the calling thread; returns when all are done. The split into chunks depends on n and grain only, so
// results that are stored by index do not depend on the number of threads. The first exception is rethrown.
// Nested calls run serially.
void parallel_for(std::size_t n, std::size_t grain,
                  const std::function<void(std::size_t, std::size_t)>& body);

// From now on the calling thread gets the processor after those that somebody waits for. For work in the
// background; does nothing where the system has no such thing.
void yield_to_other_threads();

}  // namespace sotto
