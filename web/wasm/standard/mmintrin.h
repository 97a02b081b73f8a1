#pragma once
// MMX does not exist in WebAssembly, and emscripten's own headers of SSE need nothing of it: clang's header
// of this name, which they include, would stop the compiler.
