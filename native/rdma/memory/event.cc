#include "memory/event.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "node/arguments.h"

Napi::Value CreateEvent(const Napi::CallbackInfo& info) {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) throw SystemError(info.Env(), "create an event", errno);
  return Napi::Number::New(info.Env(), fd);
}

Napi::Value SignalEvent(const Napi::CallbackInfo& info) {
  const int fd = static_cast<int>(CountOf(info, 0, "fd"));
  const uint64_t one = 1;
  // EAGAIN: the counter is full, so the descriptor is readable already.
  if (write(fd, &one, sizeof one) < 0 && errno != EAGAIN) throw SystemError(info.Env(), "signal an event", errno);
  return info.Env().Undefined();
}

Napi::Value DrainEvent(const Napi::CallbackInfo& info) {
  const int fd = static_cast<int>(CountOf(info, 0, "fd"));
  uint64_t count = 0;
  const bool signalled = read(fd, &count, sizeof count) == sizeof count;
  if (!signalled && errno != EAGAIN) throw SystemError(info.Env(), "read an event", errno);
  return Napi::Boolean::New(info.Env(), signalled);
}
