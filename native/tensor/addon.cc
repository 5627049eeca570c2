/** What JavaScript sees of the addon: runtime/native/tensor-addon.ts declares it. Functions alone; what they do is in the files of their names. */
#include <napi.h>

#include "allocator.h"
#include "autograd.h"
#include "call.h"
#include "data.h"
#include "environment.h"
#include "recorder.h"
#include "stream.h"
#include "tensor.h"
#include "threads.h"

namespace {

using Entry = Napi::Value (*)(const Napi::CallbackInfo&);

/** In a thread that is being ended nothing can be thrown, and something that nobody can catch may be on its way already. */
void Throw(napi_env env, const Napi::Error& error) {
  bool pending = false;
  if (napi_is_exception_pending(env, &pending) != napi_ok || pending) return;
  try {
    napi_throw(env, error.Value());
  } catch (const Napi::Error&) {
  }
}

/** All calls come through here: what leaves it would end the process. */
Napi::Value Entered(const Napi::CallbackInfo& info) {
  try {
    return reinterpret_cast<Entry>(info.Data())(info);
  } catch (const Ending&) {
  } catch (const Napi::Error& error) {
    Throw(info.Env(), error);
  }
  return {};
}

}  // namespace

static Napi::Object Init(Napi::Env env, Napi::Object exports) {
  UseCachingAllocator();
  Environment::Begin(env);
  const auto add = [&](const char* name, Entry call) {
    exports.Set(name, Napi::Function::New(env, Entered, name, reinterpret_cast<void*>(call)));
  };
  add("initialize", BeginTensors);
  add("addCallSite", AddSite);
  add("emptyTensor", EmptyTensor);
  add("moveTensor", MoveTensor);
  add("dispose", Dispose);
  add("isDisposed", IsDisposed);
  add("shape", Shape);
  add("strides", Strides);
  add("dtype", Dtype);
  add("stats", Stats);
  add("operationNumber", OperationNumber);
  add("call", Call);
  add("overloadsOf", Overloads);
  add("missingOperations", Missing);
  add("allSchemas", Schemas);
  add("fromMemory", FromMemory);
  add("toMemory", ToMemory);
  add("requiresGrad", RequiresGrad);
  add("setRequiresGrad", SetRequiresGrad);
  add("gradOf", GradOf);
  add("setGrad", SetGrad);
  add("backward", Backward);
  add("grad", Grad);
  add("setGradMode", SetGradMode);
  add("newRecorder", NewRecorder);
  add("useRecorder", UseRecorder);
  add("takeCommands", TakeCommands);
  add("pendingCommands", PendingCommands);
  add("sendTensor", SendTensor);
  add("seedRanks", SeedRanks);
  add("declareTensor", DeclareTensor);
  add("recorderNumber", RecorderNumber);
  add("closeRecorder", CloseRecorder);
  add("recordedReferenceOf", PlaceOf);
  add("newStream", NewStream);
  add("submitCommands", SubmitCommands);
  add("putTensor", PutTensor);
  add("failTensor", FailTensor);
  add("fetchTensor", FetchTensor);
  add("streamStats", StreamStats);
  add("closeStream", CloseStream);
  add("offerCommunicator", OfferLines);
  add("listenForPeers", ListenLines);
  add("offerNccl", OfferNccl);
  add("findNccl", FindNccl);
  add("connectCommunicator", JoinLines);
  add("setThreads", SetThreads);
  add("getThreads", GetThreads);
  add("versions", Versions);
  add("emptyCache", GiveBackMemory);
  add("seed", Seed);
  return exports;
}

NODE_API_MODULE(viceroy_tensor, Init)
