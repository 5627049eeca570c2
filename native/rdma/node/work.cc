#include "node/work.h"

#include <utility>

Napi::Value Work::Start(Napi::Env env, std::unique_ptr<Work> work, uint32_t lanes) {
  Work* started = work.release();
  started->environment_ = Environment::Of(env);
  started->deferred_ = std::make_unique<Napi::Promise::Deferred>(env);
  Napi::Promise promise = started->deferred_->Promise();
  Napi::String name = Napi::String::New(env, "viceroy:rdma");
  for (uint32_t lane = 0; lane < lanes; lane++) {
    napi_async_work handle = nullptr;
    if (napi_create_async_work(env, nullptr, name, Execute, Complete, started, &handle) != napi_ok) break;
    if (napi_queue_async_work(env, handle) != napi_ok) {
      napi_delete_async_work(env, handle);
      break;
    }
    started->lanes_.push_back(handle);
  }
  started->left_ = static_cast<uint32_t>(started->lanes_.size());
  if (started->left_ > 0) return promise;
  delete started;
  throw Napi::Error::New(env, "cannot start work in the thread pool");
}

void Work::Hold(Napi::Env env, Napi::Object object, const void* data) {
  held_.push_back(Napi::Persistent(object));
  if (auto mapping = Environment::Of(env)->HolderOf(data)) mappings_.push_back(std::move(mapping));
}

void Work::Execute(napi_env, void* data) {
  static_cast<Work*>(data)->Run();
}

void Work::Complete(napi_env env, napi_status, void* data) {
  auto work = static_cast<Work*>(data);
  if (--work->left_ > 0) return;
  work->Settle(env);
  for (napi_async_work lane : work->lanes_) napi_delete_async_work(env, lane);
  delete work;
}

void Work::Settle(Napi::Env env) {
  Napi::HandleScope scope(env);
  // The C interface is used because in a worker thread that is being terminated nothing can be resolved and nothing may
  // be thrown.
  napi_value value = nullptr;
  if (napi_create_int32(env, result(), &value) != napi_ok) return;
  try {
    deferred_->Resolve(value);
  } catch (const Napi::Error&) {
    // Ignored for the same reason.
  }
}
