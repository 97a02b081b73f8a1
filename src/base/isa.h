#pragma once
// Hot loops are compiled for several instruction sets and chosen when the program starts. Sanitizers run
// before the chooser is ready, so they get one version.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define SOTTO_MULTIVERSION __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define SOTTO_MULTIVERSION
#endif
