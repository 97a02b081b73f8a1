#pragma once
// An allocator keeps what is freed, for the next one who asks. After work that needed much more than it
// leaves behind, nobody asks: then it all goes back to the system. Safe from any thread; takes some
// milliseconds.

namespace sotto::net {

void return_free_memory();

// Before a server starts: glibc learns from large blocks that are freed to keep up to 64 MiB at the top of
// every arena, where return_free_memory does not reach. Other allocators are left as they are.
void keep_little_free_memory();

}  // namespace sotto::net
