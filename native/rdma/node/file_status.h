/** Reads the status of an open file with `statx`, because `fstat` of newer C libraries is missing in glibc 2.28. */
#pragma once
#include <fcntl.h>
#include <sys/stat.h>

/** Returns whether the status could be read; otherwise `errno` is set. The descriptor may be one of `O_PATH`. */
inline bool StatusOf(int fd, struct statx* status) {
  return statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, status) == 0;
}
