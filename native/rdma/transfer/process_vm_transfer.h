/** Transfers to and from any memory of another process on this host, by process_vm_readv and process_vm_writev. */
#pragma once
#include <napi.h>

/**
 * `processTransfer(…, pid, slotAddress) -> number | Promise<number>`: the arguments after the common arguments of
 * transfers are the owner's process and the address of the grant's slot in that process.
 */
Napi::Value ProcessTransferCall(const Napi::CallbackInfo& info);
/** `readProcess(pid, address, local) -> number`: reads a few bytes synchronously. Returns 0 or an errno. */
Napi::Value ReadProcess(const Napi::CallbackInfo& info);
