#include "node/watch.h"

#include <cstdlib>
#include <utility>

#include "node/arguments.h"
#include "node/callback.h"

Watch::Watch(Napi::Env env, int fd, std::function<void()> ready) : env_(env), ready_(std::move(ready)) {
  void* loop = nullptr;
  if (napi_get_uv_event_loop(env, reinterpret_cast<::uv_loop_s**>(&loop)) != napi_ok) {
    throw Napi::Error::New(env, "cannot watch a descriptor: there is no event loop");
  }
  handle_ = static_cast<uv_handle_s*>(calloc(1, uv_handle_size(kUvPoll)));
  const int failed = uv_poll_init(static_cast<uv_loop_s*>(loop), handle_, fd);
  if (failed != 0) {
    free(handle_);
    throw SystemError(env, "watch descriptor " + std::to_string(fd), -failed);
  }
  uv_handle_set_data(handle_, this);
  uv_unref(handle_);
  uv_poll_start(handle_, kUvReadable, Ready);
}

Watch::~Watch() {
  uv_poll_stop(handle_);
  uv_handle_set_data(handle_, nullptr);
  uv_close(handle_, [](uv_handle_s* handle) { free(handle); });
}

void Watch::Ref() {
  uv_ref(handle_);
}

void Watch::Unref() {
  uv_unref(handle_);
}

void Watch::Ready(uv_handle_s* handle, int, int) {
  auto watch = static_cast<Watch*>(uv_handle_get_data(handle));
  if (watch == nullptr) return;
  Napi::HandleScope scope(watch->env_);
  watch->ready_();
}

namespace {

/** The class for JavaScript. It keeps itself alive until it is closed, or until its environment ends. */
class WatchObject : public Napi::ObjectWrap<WatchObject> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "Watch",
                       {InstanceMethod("ref", &WatchObject::Ref), InstanceMethod("unref", &WatchObject::Unref),
                        InstanceMethod("close", &WatchObject::Close)});
  }

  explicit WatchObject(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<WatchObject>(info), context_(info.Env(), "viceroy:watch") {
    const int fd = static_cast<int>(CountOf(info, 0, "fd"));
    if (!info[1].IsFunction()) throw Napi::TypeError::New(info.Env(), "invalid ready: expected a function");
    ready_ = Napi::Persistent(info[1].As<Napi::Function>());
    watch_ = std::make_unique<Watch>(info.Env(), fd, [this] { Call(); });
    napi_add_env_cleanup_hook(info.Env(), End, this);
    Napi::ObjectWrap<WatchObject>::Ref();
  }

 private:
  static void End(void* data) { static_cast<WatchObject*>(data)->watch_.reset(); }

  void Call() { CallBack(Env(), context_, Value(), ready_.Value()); }

  Napi::Value Ref(const Napi::CallbackInfo& info) {
    if (watch_) watch_->Ref();
    return info.Env().Undefined();
  }

  Napi::Value Unref(const Napi::CallbackInfo& info) {
    if (watch_) watch_->Unref();
    return info.Env().Undefined();
  }

  Napi::Value Close(const Napi::CallbackInfo& info) {
    if (!watch_) return info.Env().Undefined();
    watch_.reset();
    napi_remove_env_cleanup_hook(info.Env(), End, this);
    Napi::ObjectWrap<WatchObject>::Unref();
    return info.Env().Undefined();
  }

  Napi::AsyncContext context_;
  Napi::FunctionReference ready_;
  std::unique_ptr<Watch> watch_;
};

}  // namespace

Napi::Function DefineWatch(Napi::Env env) {
  return WatchObject::Define(env);
}
