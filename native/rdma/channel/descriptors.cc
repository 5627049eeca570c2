#include "channel/descriptors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "node/arguments.h"
#include "node/file_status.h"

int OpenDescriptor(Napi::Env env, uint64_t pid, uint64_t fd, mode_t kind, int flags, const char* name) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
  const int found = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (found < 0) throw SystemError(env, std::string("open the ") + name + " of process " + std::to_string(pid), errno);
  struct statx status;
  const bool fits = StatusOf(found, &status) && (status.stx_mode & S_IFMT) == kind && status.stx_uid == geteuid();
  const std::string self = "/proc/self/fd/" + std::to_string(found);
  const int opened = fits ? open(self.c_str(), flags | O_CLOEXEC) : -1;
  const int number = fits ? errno : EPERM;
  close(found);
  if (opened < 0)
    throw SystemError(env, std::string("open the ") + name + " of process " + std::to_string(pid), number);
  return opened;
}
