// Makes the compiler compile a function once per vector width. A call uses the version for the widest vectors that the
// machine has.
#pragma once

// Not used with sanitizers, because the loader chooses the version before the sanitizers are ready.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(STEADFOLD_SANITIZED)
#define STEADFOLD_WIDEST __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define STEADFOLD_WIDEST
#endif
