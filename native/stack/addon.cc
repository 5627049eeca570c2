/**
 * Samples the stack of JavaScript, as profilers do. `sampler` is an external value with the address of a StackSampler.
 *
 * Node-API has no function for it. Therefore this addon uses V8 directly, is built for one version of Node.js, and is
 * optional.
 */
#include <node_api.h>
#include <v8-unwinder.h>
#include <v8.h>

#include "stack_sampler.h"

namespace {

size_t Sample(const StackSampler& sampler, void** positions, size_t limit) {
  v8::RegisterState state;
  // V8 takes the frames of JavaScript from its own records, because the thread is in a function that JavaScript called.
  // It wants a stack pointer nevertheless, as the end of the stack.
  state.sp = __builtin_frame_address(0);
  state.fp = state.sp;
  state.pc = __builtin_return_address(0);
  v8::SampleInfo info{};
  static_cast<v8::Isolate*>(sampler.isolate)->GetStackSample(state, positions, limit, &info);
  return info.frames_count;
}

void CodeChanged(v8::Isolate*, v8::GCType, v8::GCCallbackFlags, void* sampler) {
  static_cast<StackSampler*>(sampler)->generation++;
}

void Ended(void* data) {
  auto sampler = static_cast<StackSampler*>(data);
  static_cast<v8::Isolate*>(sampler->isolate)->RemoveGCEpilogueCallback(CodeChanged, sampler);
  delete sampler;
}

}  // namespace

NAPI_MODULE_INIT() {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  auto sampler = new StackSampler;
  sampler->isolate = isolate;
  sampler->sample = Sample;
  // Code and bytecode are freed and moved by this kind of collection only.
  isolate->AddGCEpilogueCallback(CodeChanged, sampler, v8::kGCTypeMarkSweepCompact);
  napi_value external = nullptr;
  if (napi_add_env_cleanup_hook(env, Ended, sampler) != napi_ok ||
      napi_create_external(env, sampler, nullptr, nullptr, &external) != napi_ok ||
      napi_set_named_property(env, exports, "sampler", external) != napi_ok) {
    return nullptr;
  }
  return exports;
}
