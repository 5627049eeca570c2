#include "verbs/verbs_object.h"

#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "node/arguments.h"
#include "node/work.h"
#include "verbs/device.h"

namespace {

/** A single call that runs in the thread pool. */
class Call : public Work {
 public:
  explicit Call(std::function<int32_t()> call) : call_(std::move(call)) {}

 protected:
  void Run() override { result_ = call_(); }
  int32_t result() const override { return result_; }

 private:
  std::function<int32_t()> call_;
  int32_t result_ = -ECANCELED;
};

uint32_t WordOf(const Napi::CallbackInfo& info, size_t index, const char* name) {
  const uint64_t value = CountOf(info, index, name);
  if (value <= UINT32_MAX) return static_cast<uint32_t>(value);
  throw Napi::RangeError::New(info.Env(), std::string("invalid ") + name + ": expected 32 bits");
}

int32_t IdOf(const Napi::CallbackInfo& info, size_t index, const char* name) {
  const uint32_t value = WordOf(info, index, name);
  return value <= INT32_MAX ? static_cast<int32_t>(value) : 0;
}

class VerbsObject : public Napi::ObjectWrap<VerbsObject> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(
        env, "VerbsDevice",
        {InstanceMethod("open", &VerbsObject::Open), InstanceMethod("close", &VerbsObject::Close),
         InstanceMethod("register", &VerbsObject::Register), InstanceMethod("deregister", &VerbsObject::Deregister),
         InstanceMethod("keyOf", &VerbsObject::KeyOf), InstanceMethod("createPair", &VerbsObject::CreatePair),
         InstanceMethod("numberOf", &VerbsObject::NumberOf), InstanceMethod("connect", &VerbsObject::Connect),
         InstanceMethod("fail", &VerbsObject::Fail), InstanceMethod("destroy", &VerbsObject::Destroy),
         InstanceMethod("post", &VerbsObject::Post), InstanceMethod("poll", &VerbsObject::Poll),
         InstanceAccessor<&VerbsObject::Descriptor>("descriptor"), InstanceAccessor<&VerbsObject::Lid>("lid"),
         InstanceAccessor<&VerbsObject::Mtu>("mtu"), InstanceAccessor<&VerbsObject::Reads>("reads")});
  }

  explicit VerbsObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<VerbsObject>(info) {
    std::string why;
    const VerbsLibrary* library = VerbsLibrary::Load(&why);
    if (library == nullptr) throw Napi::Error::New(info.Env(), "cannot use RDMA devices: " + why);
    device_ = std::make_shared<VerbsDevice>(library, TextOf(info, 0, "name"), WordOf(info, 1, "port"),
                                            WordOf(info, 2, "gidIndex"));
    napi_add_env_cleanup_hook(info.Env(), End, this);
    // Keeps the object alive until it is closed: memory is registered with the device, and must not be freed before
    // that.
    Ref();
  }

 private:
  static void End(void* data) {
    auto object = static_cast<VerbsObject*>(data);
    if (object->device_) object->device_->Close();
  }

  /** Runs a call in the thread pool, and keeps the device alive until the call has ended. */
  template <typename F>
  Napi::Value RunInPool(const Napi::CallbackInfo& info, F call) {
    return RunInPool(info, std::make_unique<Call>(BindDevice(info, std::move(call))));
  }

  Napi::Value RunInPool(const Napi::CallbackInfo& info, std::unique_ptr<Call> call) {
    return Work::Start(info.Env(), std::move(call), 1);
  }

  template <typename F>
  std::function<int32_t()> BindDevice(const Napi::CallbackInfo& info, F call) {
    return [device = Device(info), call = std::move(call)] { return static_cast<int32_t>(call(*device)); };
  }

  const std::shared_ptr<VerbsDevice>& Device(const Napi::CallbackInfo& info) {
    if (device_) return device_;
    throw Napi::Error::New(info.Env(), "cannot use an RDMA device: it has been closed");
  }

  Napi::Value Open(const Napi::CallbackInfo& info) {
    return RunInPool(info, [](VerbsDevice& device) { return -device.Open(); });
  }

  Napi::Value Close(const Napi::CallbackInfo& info) {
    if (!device_) return info.Env().Undefined();
    std::shared_ptr<VerbsDevice> device = std::move(device_);
    device_ = nullptr;
    napi_remove_env_cleanup_hook(info.Env(), End, this);
    Unref();
    return RunInPool(info, std::make_unique<Call>([device] {
                       device->Close();
                       return 0;
                     }));
  }

  Napi::Value Register(const Napi::CallbackInfo& info) {
    const Bytes bytes = BytesOf(info, 0, "view");
    const int access = static_cast<int>(WordOf(info, 1, "access"));
    auto call = std::make_unique<Call>(BindDevice(
        info, [bytes, access](VerbsDevice& device) { return device.Register(bytes.data, bytes.length, access); }));
    call->Hold(info.Env(), info[0].As<Napi::Object>(), bytes.data);
    return RunInPool(info, std::move(call));
  }

  Napi::Value Deregister(const Napi::CallbackInfo& info) {
    return RunInPool(info, [id = IdOf(info, 0, "region")](VerbsDevice& device) { return -device.Deregister(id); });
  }

  Napi::Value KeyOf(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), Device(info)->KeyOf(IdOf(info, 0, "region")));
  }

  Napi::Value CreatePair(const Napi::CallbackInfo& info) {
    return RunInPool(info, [](VerbsDevice& device) { return device.CreatePair(); });
  }

  Napi::Value NumberOf(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), Device(info)->NumberOf(IdOf(info, 0, "pair")));
  }

  Napi::Value Connect(const Napi::CallbackInfo& info) {
    const int32_t id = IdOf(info, 0, "pair");
    const uint32_t first = WordOf(info, 1, "first");
    const Bytes gid = BytesOf(info, 2, "gid");
    QueuePair::Peer peer = {};
    if (gid.length != sizeof peer.gid) throw Napi::RangeError::New(info.Env(), "invalid gid: expected 16 bytes");
    memcpy(peer.gid, gid.data, sizeof peer.gid);
    peer.number = WordOf(info, 3, "number");
    peer.first = WordOf(info, 4, "peer's first");
    peer.lid = WordOf(info, 5, "lid");
    peer.mtu = WordOf(info, 6, "mtu");
    peer.reads = WordOf(info, 7, "reads");
    const QueuePair::RetryPolicy retry = {WordOf(info, 8, "timeout"), WordOf(info, 9, "retries")};
    return RunInPool(info, [=](VerbsDevice& device) { return -device.Connect(id, first, peer, retry); });
  }

  Napi::Value Fail(const Napi::CallbackInfo& info) {
    return RunInPool(info, [id = IdOf(info, 0, "pair")](VerbsDevice& device) { return -device.Fail(id); });
  }

  Napi::Value Destroy(const Napi::CallbackInfo& info) {
    return RunInPool(info, [id = IdOf(info, 0, "pair")](VerbsDevice& device) { return -device.Destroy(id); });
  }

  Napi::Value Post(const Napi::CallbackInfo& info) {
    VerbsDevice::Transfer transfer = {};
    transfer.tag = WordOf(info, 2, "tag");
    transfer.write = CountOf(info, 3, "direction") != 0;
    transfer.offset = CountOf(info, 4, "offset");
    transfer.length = WordOf(info, 5, "length");
    transfer.remote = AddressOf(info, 6, "remote");
    transfer.key = WordOf(info, 7, "key");
    const int failed = Device(info)->Post(IdOf(info, 0, "pair"), IdOf(info, 1, "region"), transfer);
    return Napi::Number::New(info.Env(), -failed);
  }

  Napi::Value Poll(const Napi::CallbackInfo& info) {
    const Bytes words = BytesOf(info, 0, "words");
    const int limit = static_cast<int>(words.length / (2 * sizeof(uint32_t)));
    return Napi::Number::New(info.Env(), Device(info)->Poll(reinterpret_cast<uint32_t*>(words.data), limit));
  }

  Napi::Value Descriptor(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), Device(info)->descriptor());
  }
  Napi::Value Lid(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), Device(info)->lid()); }
  Napi::Value Mtu(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), Device(info)->mtu()); }
  Napi::Value Reads(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), Device(info)->reads_answered());
  }

  std::shared_ptr<VerbsDevice> device_;
};

}  // namespace

Napi::Value VerbsMissing(const Napi::CallbackInfo& info) {
  std::string why;
  if (VerbsLibrary::Load(&why) != nullptr) return info.Env().Undefined();
  return Napi::String::New(info.Env(), why);
}

Napi::Function DefineVerbsDevice(Napi::Env env) {
  return VerbsObject::Define(env);
}
