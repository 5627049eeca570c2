/**
 * Replaces a variable that glibc has since 2.32, and that `std::shared_ptr` of newer compilers reads to leave out
 * atomic operations in programs without threads. Node.js always has threads. With a variable of its own, the addon can
 * also be loaded with an older glibc.
 */
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>

extern "C" __attribute__((visibility("hidden"))) char __libc_single_threaded = 0;
#endif
