// Functions that the compiler makes once per vector width; the machine's widest is called.
#pragma once

// Not under sanitizers, which must be ready before any function is chosen.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(STEADFOLD_SANITIZED)
#define STEADFOLD_WIDEST __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define STEADFOLD_WIDEST
#endif
