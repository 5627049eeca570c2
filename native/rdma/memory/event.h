/** Event counters of the kernel (eventfd). A process wakes another process that watches the counter. */
#pragma once
#include <napi.h>

/** `createEvent() -> fd`: creates a counter. Its descriptor is close-on-exec and non-blocking. */
Napi::Value CreateEvent(const Napi::CallbackInfo& info);
/** `signalEvent(fd)`: makes the descriptor readable, which wakes the processes that watch it. */
Napi::Value SignalEvent(const Napi::CallbackInfo& info);
/** `drainEvent(fd) -> boolean`: resets the counter. Returns whether it was signalled before. */
Napi::Value DrainEvent(const Napi::CallbackInfo& info);
