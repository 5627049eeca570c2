/** Memory that other processes can map: files without a name, whose size is sealed. */
#pragma once
#include <napi.h>

/**
 * `createMemory(bytes, wiped) -> { fd, buffer }`: new memory, zeroed, mapped here; close-on-exec; never shrinks or grows. Wiped: when the
 * environment ends, all who have it mapped see zeros.
 */
Napi::Value CreateMemory(const Napi::CallbackInfo& info);
/**
 * `mapMemory(fd, offset, bytes, mode) -> ArrayBuffer`: maps memory that another process has made; `offset` in bytes, a multiple of
 * the size of a page. Mode 0: shared, what is written is seen by all; 1: private, what is written stays here. Refuses files that are
 * not sealed: they could shrink, and whoever then reads is ended by SIGBUS.
 */
Napi::Value MapMemory(const Napi::CallbackInfo& info);
/** `unmap(buffer)`: detaches it, and unmaps its memory as soon as no work uses it. Does nothing to one that is detached. */
Napi::Value Unmap(const Napi::CallbackInfo& info);
/** `addressOf(view) -> bigint` */
Napi::Value AddressOfView(const Napi::CallbackInfo& info);
