#include "binding/data.h"

#include "binding/arguments.h"
#include "binding/tensor.h"
#include "libtorch/dtype.h"
#include "recorder/recorded_tensor.h"

namespace {

constexpr size_t kMaxDimensions = 64;

}  // namespace

c10::ScalarType DtypeArgument(const Napi::CallbackInfo& info, size_t index) {
  const c10::ScalarType dtype = DtypeOf(TextOf(info, index, "dtype"));
  if (dtype == c10::ScalarType::Undefined) throw InvalidArgument(info, "dtype", "one of " + DtypeNames());
  return dtype;
}

Extent ExtentOf(const Napi::CallbackInfo& info, size_t index, c10::ScalarType dtype) {
  const auto invalid = [&] {
    return InvalidArgument(info, "shape", "at most 64 sizes, less than 2^47 bytes in total");
  };
  if (!info[index].IsArray()) throw invalid();
  auto sizes = info[index].As<Napi::Array>();
  if (sizes.Length() > kMaxDimensions) throw invalid();
  Extent extent{{}, c10::elementSize(dtype)};
  for (uint32_t i = 0; i < sizes.Length(); i++) {
    const Napi::Value size = sizes[i];
    const double number = size.IsNumber() ? size.As<Napi::Number>().DoubleValue() : -1;
    if (!(number >= 0 && number < 140737488355328.0) || number != static_cast<double>(static_cast<int64_t>(number)))
      throw invalid();
    extent.shape.push_back(static_cast<int64_t>(number));
    if (__builtin_mul_overflow(extent.bytes, static_cast<size_t>(number), &extent.bytes)) throw invalid();
  }
  if (extent.bytes >= (size_t{1} << 47)) throw invalid();
  return extent;
}

Napi::Value FromMemory(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Bytes bytes = BytesOf(info, 0, "view");
  const c10::ScalarType dtype = DtypeArgument(info, 2);
  const Extent extent = ExtentOf(info, 1, dtype);
  if (extent.bytes != bytes.length) {
    throw Napi::RangeError::New(env, "cannot make a tensor over a typed array: its shape takes " +
                                         std::to_string(extent.bytes) + " bytes, got " + std::to_string(bytes.length));
  }
  if (reinterpret_cast<uintptr_t>(bytes.data) % c10::elementSize(dtype) != 0) {
    throw Napi::RangeError::New(env, "cannot make a tensor over a typed array: it is not aligned to its elements");
  }
  const auto options = at::TensorOptions().dtype(dtype);
  const char* verb = "make a tensor over a typed array";
  if (extent.bytes == 0) return Guarded(env, verb, [&] { return NewTensor(env, at::empty(extent.shape, options)); });
  auto reference = new Napi::ObjectReference(Napi::Persistent(info[0].As<Napi::Object>()));
  auto loop = Environment::Of(env).loop;
  // The last view can be released on any thread, but the reference must be deleted on the thread of the event loop. If
  // the loop has ended, the environment has deleted the reference already.
  const auto release = [reference, loop](void*) { loop->Post([reference](Napi::Env) { delete reference; }); };
  return Guarded(env, verb, [&] { return NewTensor(env, at::from_blob(bytes.data, extent.shape, release, options)); });
}

Napi::Value ToMemory(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const at::Tensor& tensor = TensorOf(info, 0, "tensor");
  return Guarded(env, "read the elements of a tensor", [&]() -> Napi::Value {
    if (RecordedOf(tensor) != nullptr) throw std::runtime_error("its elements are on the processes of a mesh");
    auto held = new at::Tensor(Materialize(tensor));
    const size_t bytes = held->nbytes();
    if (bytes == 0) {
      delete held;
      return Napi::ArrayBuffer::New(env, 0);
    }
    return Napi::ArrayBuffer::New(
        env, held->data_ptr(), bytes, [](Napi::Env, void*, at::Tensor* tensor) { delete tensor; }, held);
  });
}
