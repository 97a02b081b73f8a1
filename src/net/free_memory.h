#pragma once
// An allocator keeps what is freed, for the next one who asks. After work that needed much more than it
// leaves behind, nobody asks: then it all goes back to the system. Safe from any thread; takes some
// milliseconds.

namespace sotto::net {

void return_free_memory();

}  // namespace sotto::net
