#include "binding/stream_functions.h"
#include "binding/arguments.h"
#include "binding/tensor.h"
#include "recorder/recorded_tensor.h"

namespace {

using StreamHandle = std::shared_ptr<Stream>;

const napi_type_tag kStream = {0x76696365726f7931, 0x73747265616d7321};

Napi::Error ErrorOf(Napi::Env env, const Failure& failure) {
  auto error = Napi::Error::New(env, failure.op + " failed: " + failure.message);
  error.Set("op", Napi::String::New(env, failure.op));
  error.Set("site", Napi::String::New(env, failure.site));
  error.Set("rank", Napi::Number::New(env, static_cast<double>(failure.rank)));
  return error;
}

}  // namespace

Stream& StreamArgument(const Napi::CallbackInfo& info) {
  bool is = false;
  void* data = nullptr;
  if (!info[0].IsObject() || napi_check_object_type_tag(info.Env(), info[0], &kStream, &is) != napi_ok || !is ||
      napi_unwrap(info.Env(), info[0], &data) != napi_ok) {
    throw InvalidArgument(info, "stream", "a stream");
  }
  return **static_cast<StreamHandle*>(data);
}

Napi::Value SubmitTask(const Napi::CallbackInfo& info, std::string verb, Task task) {
  Stream& stream = StreamArgument(info);
  auto deferred = std::make_shared<Napi::Promise::Deferred>(info.Env());
  auto loop = Environment::Of(info.Env()).loop;
  // The event loop stays alive while a promise is pending.
  loop->Ref();
  stream.Push([deferred, loop, verb = std::move(verb), task = std::move(task)](Executor* executor) {
    auto outcome = std::make_shared<Outcome>();
    try {
      if (executor == nullptr) throw std::runtime_error("the stream has been closed");
      task(*executor, *outcome);
    } catch (const std::exception& error) {
      outcome->error = "cannot " + verb + ": " + ErrorText(error);
    }
    loop->Post([deferred, loop, outcome](Napi::Env env) {
      loop->Unref();
      if (outcome->failure) {
        deferred->Reject(ErrorOf(env, *outcome->failure).Value());
      } else if (!outcome->error.empty()) {
        deferred->Reject(Napi::Error::New(env, outcome->error).Value());
      } else {
        deferred->Resolve(outcome->value ? outcome->value(env) : env.Undefined());
      }
    });
  });
  return deferred->Promise();
}

Napi::Value NewStream(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  auto& environment = Environment::Of(env);
  const uint64_t rank = CountOf(info, 0, "rank");
  const uint64_t threads = CountOf(info, 1, "threads");
  if (threads < 1 || threads > 4096) throw InvalidArgument(info, "threads", "an integer from 1 to 4096");
  const std::string name = TextOf(info, 3, "device");
  const uint64_t place = CountOf(info, 4, "place");
  StreamHandle made;
  Guarded(env, "hold tensors on " + name, [&] {
    made = std::make_shared<Stream>(rank, static_cast<int>(threads), DeviceNamed(name, place), info[2].ToBoolean());
    return env.Undefined();
  });
  auto object = Napi::Object::New(env);
  auto handle = new StreamHandle(std::move(made));
  environment.streams.insert(handle->get());
  const auto end = [](napi_env env, void* data, void*) {
    auto handle = static_cast<StreamHandle*>(data);
    void* instance = nullptr;
    if (napi_get_instance_data(env, &instance) == napi_ok && instance != nullptr) {
      static_cast<Environment*>(instance)->streams.erase(handle->get());
    }
    delete handle;
  };
  napi_wrap(env, object, handle, end, nullptr, nullptr);
  napi_type_tag_object(env, object, &kStream);
  return object;
}

Napi::Value SubmitCommands(const Napi::CallbackInfo& info) {
  const Bytes bytes = BytesOf(info, 1, "commands");
  // The bytes are copied, so that the caller cannot change them between the check and the execution.
  auto batch = std::make_shared<std::vector<uint8_t>>(bytes.data, bytes.data + bytes.length);
  return SubmitTask(info, "execute commands for tensors",
                    [batch](Executor& executor, Outcome&) { executor.Execute(*batch); });
}

Napi::Value PutTensor(const Napi::CallbackInfo& info) {
  const uint64_t reference = CountOf(info, 1, "number");
  const at::Tensor& tensor = TensorOf(info, 2, "tensor");
  if (RecordedOf(tensor) != nullptr) throw InvalidArgument(info, "tensor", "a tensor of this process");
  return Guarded(info.Env(), "copy a tensor", [&] {
    return SubmitTask(info, "put a tensor", [reference, copy = tensor.detach().clone()](Executor& executor, Outcome&) {
      executor.Put(reference, copy);
    });
  });
}

Napi::Value FailTensor(const Napi::CallbackInfo& info) {
  const uint64_t reference = CountOf(info, 1, "number");
  return SubmitTask(info, "put a failure",
                    [reference, op = TextOf(info, 2, "operation"), site = TextOf(info, 3, "place"),
                     message = TextOf(info, 4, "message")](Executor& executor, Outcome&) {
                      executor.PutFailure(reference, op, site, message);
                    });
}

Napi::Value FetchTensor(const Napi::CallbackInfo& info) {
  const uint64_t reference = CountOf(info, 1, "number");
  return SubmitTask(info, "fetch a tensor", [reference](Executor& executor, Outcome& outcome) {
    at::Tensor copy;
    outcome.failure = executor.Fetch(reference, copy);
    outcome.value = [copy](Napi::Env env) { return NewTensor(env, copy); };
  });
}

Napi::Value StreamStats(const Napi::CallbackInfo& info) {
  return SubmitTask(info, "count", [](Executor& executor, Outcome& outcome) {
    const auto tensors = static_cast<double>(executor.tensors());
    const auto calls = static_cast<double>(executor.calls());
    outcome.value = [tensors, calls](Napi::Env env) -> Napi::Value {
      auto stats = Napi::Object::New(env);
      stats.Set("tensors", Napi::Number::New(env, tensors));
      stats.Set("calls", Napi::Number::New(env, calls));
      return stats;
    };
  });
}

Napi::Value CloseStream(const Napi::CallbackInfo& info) {
  StreamArgument(info).Stop();
  return info.Env().Undefined();
}
