/**
 * A descriptor that the event loop watches: whenever it becomes readable, a function is called on the thread of the loop. Nothing
 * blocks and nothing spins. `new Watch(fd, ready)`; `ref()`, `unref()`: whether it keeps the loop alive, which at first it does not;
 * `close()`, once, after which the descriptor may be closed. Native code uses the other constructor.
 */
#pragma once
#include <napi.h>

#include <functional>
#include <memory>

#include "loop.h"

class Watch {
 public:
  /** @param ready called on the thread of the loop, in a scope, but in no callback of JavaScript */
  Watch(Napi::Env env, int fd, std::function<void()> ready);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  /** Closes it. */
  ~Watch();

  void Ref();
  void Unref();

 private:
  static void Ready(uv_handle_s* handle, int status, int events);

  Napi::Env env_;
  std::function<void()> ready_;
  uv_handle_s* handle_;
};

/** The class `Watch` for JavaScript. */
Napi::Function DefineWatch(Napi::Env env);
