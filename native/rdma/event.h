/** Event counters of the system (eventfd), by which one process wakes another that watches them. */
#pragma once
#include <napi.h>

/** `createEvent() -> fd`: close-on-exec, does not block. */
Napi::Value CreateEvent(const Napi::CallbackInfo& info);
/** `signalEvent(fd)`: who watches it is woken. */
Napi::Value SignalEvent(const Napi::CallbackInfo& info);
/** `drainEvent(fd) -> boolean`: whether it had been signalled; afterwards it has not. */
Napi::Value DrainEvent(const Napi::CallbackInfo& info);
