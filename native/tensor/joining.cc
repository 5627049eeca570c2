/** Lines between the processes of a mesh, as JavaScript offers and joins them. What others have offered is checked when it is joined. */
#include "arguments.h"
#include "streaming.h"

namespace {

constexpr uint64_t kMostRanks = 65536;

/** Who is reached how: by memory, or by an address of another machine. */
struct LineEnd {
  bool shared = false;
  SharedEnd end;
  std::string address;
};

Napi::Value BytesFor(Napi::Env env, const std::string& bytes) {
  return Napi::Buffer<char>::Copy(env, bytes.data(), bytes.size());
}

const std::shared_ptr<Lines>& LinesArgument(const Napi::CallbackInfo& info) {
  const auto& lines = StreamArgument(info).lines();
  if (!lines) throw Wrong(info, "stream", "one that has offered lines");
  return lines;
}

std::string BytesIn(const Napi::CallbackInfo& info, const Napi::Value& value) {
  if (!value.IsTypedArray()) throw Wrong(info, "end", "a Uint8Array");
  const auto array = value.As<Napi::TypedArray>();
  const auto* begin = static_cast<const char*>(array.ArrayBuffer().Data()) + array.ByteOffset();
  return {begin, array.ByteLength()};
}

uint64_t NumberIn(const Napi::CallbackInfo& info, const Napi::Value& value) {
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1;
  if (!(number >= 0 && number < 4294967296.0)) throw Wrong(info, "end", "numbers of 32 bits");
  return static_cast<uint64_t>(number);
}

LineEnd EndOf(const Napi::CallbackInfo& info, const Napi::Value& value) {
  LineEnd end;
  if (value.IsTypedArray()) {
    end.address = BytesIn(info, value);
    return end;
  }
  if (!value.IsObject()) throw Wrong(info, "end", "an object or a Uint8Array");
  const auto object = value.As<Napi::Object>();
  end.shared = true;
  end.end.pid = NumberIn(info, object.Get("pid"));
  end.end.memory = NumberIn(info, object.Get("memory"));
  end.end.token = BytesIn(info, object.Get("token"));
  return end;
}

}  // namespace

Napi::Value OfferLines(const Napi::CallbackInfo& info) {
  Stream& stream = StreamArgument(info);
  const uint64_t rank = CountOf(info, 1, "rank");
  const uint64_t ranks = CountOf(info, 2, "ranks");
  if (ranks > kMostRanks || rank >= ranks) throw Wrong(info, "rank", "one of at most 65536");
  return Guarded(info.Env(), "offer lines to other processes", [&]() -> Napi::Value {
    auto lines = std::make_shared<Lines>(rank, ranks);
    const SharedEnd end = lines->end();
    stream.Use(std::move(lines));
    auto offered = Napi::Object::New(info.Env());
    offered.Set("pid", Napi::Number::New(info.Env(), static_cast<double>(end.pid)));
    offered.Set("memory", Napi::Number::New(info.Env(), static_cast<double>(end.memory)));
    offered.Set("token", BytesFor(info.Env(), end.token));
    return offered;
  });
}

Napi::Value OfferNccl(const Napi::CallbackInfo& info) {
  Stream& stream = StreamArgument(info);
  const std::string file = TextOf(info, 1, "file");
  return Guarded(info.Env(), "exchange tensors by NCCL", [&]() -> Napi::Value {
    auto library = std::make_shared<const NcclLibrary>(file);
    if (stream.device().is_cpu() && !library->takesHostMemory()) return Napi::Number::New(info.Env(), 0);
    stream.UseNccl(library);
    return Napi::Number::New(info.Env(), library->version());
  });
}

Napi::Value FindNccl(const Napi::CallbackInfo& info) {
  const std::string file = TextOf(info, 0, "file");
  return Guarded(info.Env(), "use NCCL", [&]() -> Napi::Value {
    const NcclLibrary library(file);
    auto found = Napi::Object::New(info.Env());
    found.Set("version", Napi::String::New(info.Env(), NcclVersionText(library.version())));
    found.Set("file", Napi::String::New(info.Env(), library.file()));
    return found;
  });
}

Napi::Value ListenLines(const Napi::CallbackInfo& info) {
  const auto& lines = LinesArgument(info);
  const std::string address = TextOf(info, 1, "address");
  return Guarded(info.Env(), "listen for other machines", [&]() -> Napi::Value {
    const auto addresses = lines->Listen(address);
    auto array = Napi::Array::New(info.Env(), addresses.size());
    for (uint32_t i = 0; i < addresses.size(); i++) array.Set(i, BytesFor(info.Env(), addresses[i]));
    return array;
  });
}

Napi::Value JoinLines(const Napi::CallbackInfo& info) {
  const auto lines = LinesArgument(info);
  if (!info[1].IsArray() || !info[2].IsArray()) throw Wrong(info, "ends", "arrays of sizes and of ends");
  const auto extent = info[1].As<Napi::Array>();
  std::vector<size_t> sizes;
  uint64_t ranks = 1;
  for (uint32_t i = 0; i < extent.Length(); i++) {
    sizes.push_back(NumberIn(info, extent.Get(i)));
    ranks = ranks <= kMostRanks ? ranks * sizes.back() : ranks;
  }
  // A mesh without dimensions has one process, and one dimension as far as is asked here.
  if (sizes.empty()) sizes.push_back(1);
  const auto array = info[2].As<Napi::Array>();
  if (ranks != lines->ranks() || array.Length() != ranks) throw Wrong(info, "ends", "one for each process of the mesh");
  std::vector<LineEnd> ends;
  for (uint32_t i = 0; i < array.Length(); i++) ends.push_back(EndOf(info, array.Get(i)));
  const auto nccl = info[3].ToBoolean() ? StreamArgument(info).nccl() : nullptr;
  return Promised(info, "reach the other processes of the mesh", [lines, sizes, ends, nccl](Executor& executor, Outcome&) {
    for (size_t peer = 0; peer < ends.size(); peer++) {
      if (peer == lines->rank()) continue;
      if (ends[peer].shared) {
        lines->Open(peer, ends[peer].end);
      } else {
        lines->Connect(peer, ends[peer].address);
      }
    }
    executor.Join(lines, sizes, nccl);
  });
}
