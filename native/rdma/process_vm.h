/** Transfers to and from any memory of another process of this host, by process_vm_readv and process_vm_writev. */
#pragma once
#include <napi.h>

/** `processTransfer(…, pid, slotAddress) -> number | Promise<number>`: after what all transfers take, whose memory, and where its slot is there. */
Napi::Value ProcessTransferCall(const Napi::CallbackInfo& info);
/** `readProcess(pid, address, local) -> number`: a few bytes, on the spot. 0, or an errno. */
Napi::Value ReadProcess(const Napi::CallbackInfo& info);
