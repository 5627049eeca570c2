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

}  // namespace

void Environment::Begin(Napi::Env env) {
  auto environment = new Environment(env);
  // Deleted after the environment has ended; the cleanup hooks run before that.
  env.SetInstanceData<Environment>(environment);
  napi_add_env_cleanup_hook(env, End, environment);
}

size_t Environment::Site(Napi::Env env) const {
  napi_value result = nullptr;
  // The classes of node-addon-api are not used here, because they end the process if the thread is being terminated.
  if (napi_call_function(env, env.Undefined(), site.Value(), 0, nullptr, &result) != napi_ok) throw Ending{};
  uint32_t place = 0;
  if (napi_get_value_uint32(env, result, &place) != napi_ok || place >= sites.size()) {
    throw std::runtime_error("the call site is unknown");
  }
  return place;
}
