#pragma once
// The most memory that this process has had resident, as the kernel counts it.

namespace sotto::bench {

// In bytes, since the last forget_peak_memory() or the start; 0 where the system does not say.
double peak_memory();
void forget_peak_memory();

}  // namespace sotto::bench
