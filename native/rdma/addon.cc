/**
 * Exports the functions and classes of the addon for registered memory to JavaScript. runtime/native/rdma-addon.ts
 * declares them; each is implemented in the file that is named after it.
 */
#include <napi.h>

#include "channel/channel.h"
#include "memory/event.h"
#include "memory/memory.h"
#include "node/environment.h"
#include "node/watch.h"
#include "transfer/mapped_transfer.h"
#include "transfer/process_vm_transfer.h"
#include "verbs/verbs_object.h"

static Napi::Object Init(Napi::Env env, Napi::Object exports) {
  Environment::Begin(env);
  const auto add = [&](const char* name, Napi::Value (*call)(const Napi::CallbackInfo&)) {
    exports.Set(name, Napi::Function::New(env, call, name));
  };
  add("createMemory", CreateMemory);
  add("storeMemory", StoreMemory);
  add("beginMemory", BeginMemory);
  add("sealMemory", SealMemory);
  add("markUsed", MarkUsed);
  add("isUsed", IsUsed);
  add("countMemory", CountMemory);
  add("mapMemory", MapMemory);
  add("unmap", Unmap);
  add("addressOf", AddressOfView);
  add("readProcess", ReadProcess);
  add("processTransfer", ProcessTransferCall);
  add("mappedTransfer", MappedTransferCall);
  add("createEvent", CreateEvent);
  add("signalEvent", SignalEvent);
  add("drainEvent", DrainEvent);
  add("verbsMissing", VerbsMissing);
  exports.Set("Watch", DefineWatch(env));
  exports.Set("Channel", Channel::Define(env));
  exports.Set("VerbsDevice", DefineVerbsDevice(env));
  return exports;
}

NODE_API_MODULE(viceroy_rdma, Init)
