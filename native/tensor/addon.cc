/**
 * Exports the functions of the addon for tensors to JavaScript. runtime/native/tensor-addon.ts declares them; binding/
 * implements them.
 */
#include <napi.h>

#include "binding/call.h"
#include "binding/data.h"
#include "binding/environment.h"
#include "binding/gradient_functions.h"
#include "binding/process_functions.h"
#include "binding/recorder_functions.h"
#include "binding/step_functions.h"
#include "binding/stream_functions.h"
#include "binding/tensor.h"
#include "libtorch/allocator.h"

namespace {

using Entry = Napi::Value (*)(const Napi::CallbackInfo&);

/**
 * Throws an error in JavaScript. Does nothing if an exception is pending already. In a thread that is being terminated
 * no error can be created, and the exception of the termination cannot be caught.
 */
void Throw(napi_env env, const Napi::Error& error) {
  bool pending = false;
  if (napi_is_exception_pending(env, &pending) != napi_ok || pending) return;
  try {
    napi_throw(env, error.Value());
  } catch (const Napi::Error&) {
  }
}

/**
 * Calls a function of the addon. All calls from JavaScript pass through this function, because a C++ exception that
 * leaves a callback of Node-API ends the process.
 */
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
  add("initialize", Initialize);
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
  add("isFull", IsFull);
  add("sendTensor", SendTensor);
  add("seedRanks", SeedRanks);
  add("declareTensor", DeclareTensor);
  add("recorderNumber", RecorderNumber);
  add("closeRecorder", CloseRecorder);
  add("recordedReferenceOf", RecordedReferenceOf);
  add("newStepProgram", NewStepProgram);
  add("matchesStep", MatchesStep);
  add("beginCapture", BeginCapture);
  add("endCapture", EndCapture);
  add("cancelCapture", CancelCapture);
  add("detachResult", DetachResult);
  add("markNumbers", MarkNumbers);
  add("whyNotReplayed", WhyNotReplayed);
  add("replayStep", ReplayStep);
  add("forgetStep", ForgetStep);
  add("newStream", NewStream);
  add("submitCommands", SubmitCommands);
  add("putTensor", PutTensor);
  add("failTensor", FailTensor);
  add("fetchTensor", FetchTensor);
  add("streamStats", StreamStats);
  add("closeStream", CloseStream);
  add("offerCommunicator", OfferCommunicator);
  add("listenForPeers", ListenForPeers);
  add("offerNccl", OfferNccl);
  add("findNccl", FindNccl);
  add("connectCommunicator", ConnectCommunicator);
  add("setThreads", SetThreads);
  add("getThreads", GetThreads);
  add("versions", Versions);
  add("emptyCache", EmptyMemoryCache);
  add("seed", SeedRandom);
  return exports;
}

NODE_API_MODULE(viceroy_tensor, Init)
