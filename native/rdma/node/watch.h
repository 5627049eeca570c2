/**
 * Watches a descriptor on the event loop. Whenever the descriptor becomes readable, a function is called on the thread
 * of the loop, without blocking or spinning. In JavaScript: `new Watch(fd, ready)` starts the watch; `ref()` and
 * `unref()` decide whether it keeps the event loop alive, which it does not at first; `close()` ends the watch once,
 * after which the descriptor may be closed. Native code uses the constructor below.
 */
#pragma once
#include <napi.h>

#include <functional>
#include <memory>

#include "node/libuv.h"

class Watch {
 public:
  /**
   * @param ready called on the thread of the loop, within a handle scope but outside any callback scope of JavaScript
   */
  Watch(Napi::Env env, int fd, std::function<void()> ready);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  /** Stops the watch and closes its handle. */
  ~Watch();

  void Ref();
  void Unref();

 private:
  static void Ready(uv_handle_s* handle, int status, int events);

  Napi::Env env_;
  std::function<void()> ready_;
  uv_handle_s* handle_;
};

/** Defines the class `Watch` for JavaScript. */
Napi::Function DefineWatch(Napi::Env env);
