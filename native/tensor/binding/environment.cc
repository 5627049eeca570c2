#include "binding/environment.h"

#include "executor/stream.h"
#include "recorder/recorder.h"

namespace {

/**
 * Runs when the environment is about to end, while the heap still exists. Waits for the threads of streams, because
 * their jobs must not outlive the environment.
 */
void End(void* data) {
  auto environment = static_cast<Environment*>(data);
  environment->loop->Close();
  for (Stream* stream : environment->streams) stream->Close();
}

/** The classes of node-addon-api are not used here, because they end the process if the thread is being terminated. */
napi_value CallFunction(Napi::Env env, const Napi::FunctionReference& function, size_t count,
                        const napi_value* arguments) {
  napi_value result = nullptr;
  if (napi_call_function(env, env.Undefined(), function.Value(), count, arguments, &result) != napi_ok) throw Ending{};
  return result;
}

napi_value Element(Napi::Env env, napi_value array, uint32_t index) {
  napi_value element = nullptr;
  if (napi_get_element(env, array, index, &element) != napi_ok) throw Ending{};
  return element;
}

/** Converts the number of a call site. */
size_t SiteNumber(Napi::Env env, napi_value value, const std::vector<std::string>& sites) {
  uint32_t number = 0;
  if (napi_get_value_uint32(env, value, &number) != napi_ok || number >= sites.size()) {
    throw std::runtime_error("the call site is unknown");
  }
  return number;
}

}  // namespace

void Environment::Begin(Napi::Env env) {
  auto environment = new Environment(env);
  // Deleted after the environment has ended; the cleanup hooks run before that.
  env.SetInstanceData<Environment>(environment);
  napi_add_env_cleanup_hook(env, End, environment);
}

void Environment::NoteRecording(Napi::Env env, Recorder& recorder) {
  if (!recorder.NeedsNotice()) return;
  napi_value number = nullptr;
  if (napi_create_double(env, static_cast<double>(recorder.id()), &number) != napi_ok) throw Ending{};
  CallFunction(env, noteRecorded, 1, &number);
}

size_t Environment::BeginRecording(Napi::Env env, Recorder& recorder) {
  NoteRecording(env, recorder);
  return Site(env);
}

size_t Environment::Site(Napi::Env env) {
  if (locateSite.IsEmpty()) return SiteNumber(env, CallFunction(env, site, 0, nullptr), sites);
  return callSites.Find([&]() -> CallSites::Located {
    const napi_value located = CallFunction(env, locateSite, 0, nullptr);
    uint32_t depth = 0;
    if (napi_get_value_uint32(env, Element(env, located, 1), &depth) != napi_ok) throw Ending{};
    return {SiteNumber(env, Element(env, located, 0), sites), depth};
  });
}
