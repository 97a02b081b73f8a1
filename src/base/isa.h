#pragma once
// Hot loops are compiled for several instruction sets and chosen when the program starts. Sanitizers run
// before the chooser is ready, so they get one version.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define SOTTO_MULTIVERSION __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SOTTO_MULTIVERSION
#endif

// What a versioned function calls must be inlined into it, or it is compiled for the oldest instruction set
// only.
#define SOTTO_INLINE __attribute__((always_inline)) inline
