#include "environment.h"

#include "recorder.h"
#include "stream.h"

namespace {

/** Runs while the heap is still there. Streams are waited for: what they run must not outlive the environment. */
void End(void* data) {
  auto environment = static_cast<Environment*>(data);
  environment->loop->Close();
  for (Stream* stream : environment->streams) stream->Close();
}

}  // namespace

void Environment::Begin(Napi::Env env) {
  auto environment = new Environment(env);
  // Deleted when the environment is gone; hooks run before that.
  env.SetInstanceData<Environment>(environment);
  napi_add_env_cleanup_hook(env, End, environment);
}

size_t Environment::Site(Napi::Env env) const {
  napi_value result = nullptr;
  // Not by the wrappers: what they do with a worker thread that is ended here is to end the process.
  if (napi_call_function(env, env.Undefined(), site.Value(), 0, nullptr, &result) != napi_ok) throw Ending{};
  uint32_t place = 0;
  if (napi_get_value_uint32(env, result, &place) != napi_ok || place >= sites.size()) {
    throw std::runtime_error("a place in the code that was not told");
  }
  return place;
}
