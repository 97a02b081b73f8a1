#pragma once
// For handlers that gather what comes in together.

#include <functional>

namespace sotto {

// Called by a handler: runs `task` on the same network thread, after the requests that had arrived by then
// have been given to their handlers. False, and nothing happens, on any other thread.
bool run_after_ready_requests(std::function<void()> task);

}  // namespace sotto
