/** Memory that other processes can map: anonymous files (memfd) whose size is sealed. */
#pragma once
#include <napi.h>

/**
 * `createMemory(bytes, wiped) -> { fd, buffer }`: creates zeroed memory and maps it in this process. The descriptor is
 * close-on-exec, and the memory can neither shrink nor grow. If `wiped` is true, all processes that have mapped the
 * memory see zeros once the environment ends.
 */
Napi::Value CreateMemory(const Napi::CallbackInfo& info);
/**
 * `storeMemory(parts) -> fd`: creates memory with the bytes of all parts, one after the other, which nobody can change
 * any more: neither this process nor another one. The descriptor is close-on-exec.
 */
Napi::Value StoreMemory(const Napi::CallbackInfo& info);
/**
 * `beginMemory() -> fd`: creates empty memory, to which this process writes with system calls until `sealMemory`. The
 * descriptor is close-on-exec.
 */
Napi::Value BeginMemory(const Napi::CallbackInfo& info);
/** `sealMemory(fd)`: nobody can change the memory any more, as if `storeMemory` had created it. */
Napi::Value SealMemory(const Napi::CallbackInfo& info);
/**
 * `markUsed(fd)`: tells other processes that have the same file open that this one uses it. The mark is a shared lock
 * of the open file, so that the system removes it when the last descriptor and the last mapping of it are gone, also
 * after the process was killed.
 */
Napi::Value MarkUsed(const Napi::CallbackInfo& info);
/** `isUsed(fd) -> boolean`: returns whether another open file has a mark on the same file. */
Napi::Value IsUsed(const Napi::CallbackInfo& info);
/**
 * `countMemory(bytes)`: makes V8 count memory that a value keeps without an ArrayBuffer; a negative number takes it
 * back. Otherwise nothing would tell V8 to collect values that keep much memory.
 */
Napi::Value CountMemory(const Napi::CallbackInfo& info);
/**
 * `mapMemory(fd, offset, bytes, mode) -> ArrayBuffer`: maps memory that another process has created. `offset` is in
 * bytes and a multiple of the page size. With mode 0 the mapping is shared: all processes see what is written. With
 * mode 1 it is private: writes stay in this process. Refuses files that are not sealed, because they could shrink, and
 * reading beyond the end would then end this process with SIGBUS.
 */
Napi::Value MapMemory(const Napi::CallbackInfo& info);
/**
 * `unmap(buffer)`: detaches the buffer, and unmaps its memory as soon as no transfer uses it. Has no effect on a
 * detached buffer.
 */
Napi::Value Unmap(const Napi::CallbackInfo& info);
/** `addressOf(view) -> bigint`: returns the address of the first byte of a view. */
Napi::Value AddressOfView(const Napi::CallbackInfo& info);
