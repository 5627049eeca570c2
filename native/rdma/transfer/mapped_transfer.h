/** Transfers to and from memory of another process that is mapped in this process. The bytes are copied with memcpy. */
#pragma once
#include <napi.h>

/**
 * `mappedTransfer(…, memory) -> number | Promise<number>`: the argument after the common arguments of transfers is a
 * view of the whole granted memory.
 */
Napi::Value MappedTransferCall(const Napi::CallbackInfo& info);
