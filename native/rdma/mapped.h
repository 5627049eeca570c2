/** Transfers to and from memory of another process that is mapped here: copies. */
#pragma once
#include <napi.h>

/** `mappedTransfer(…, memory) -> number | Promise<number>`: after what all transfers take, a view of all that is granted. */
Napi::Value MappedTransferCall(const Napi::CallbackInfo& info);
