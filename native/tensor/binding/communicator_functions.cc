/**
 * Functions for JavaScript that create the communicator of a stream and connect it to its peers. Each address of a peer
 * is checked before it is used.
 */
#include "binding/arguments.h"
#include "binding/stream_functions.h"

namespace {

constexpr uint64_t kMaxRanks = 65536;

/** The address of a peer: shared memory on this machine, or an address of another machine. */
struct PeerAddress {
  bool shared = false;
  SharedMemoryAddress memory;
  std::string network;
};

Napi::Value BytesFor(Napi::Env env, const std::string& bytes) {
  return Napi::Buffer<char>::Copy(env, bytes.data(), bytes.size());
}

const std::shared_ptr<Communicator>& CommunicatorArgument(const Napi::CallbackInfo& info) {
  const auto& communicator = StreamArgument(info).communicator();
  if (!communicator) throw InvalidArgument(info, "stream", "a stream with a communicator");
  return communicator;
}

std::string BytesIn(const Napi::CallbackInfo& info, const Napi::Value& value) {
  if (!value.IsTypedArray()) throw InvalidArgument(info, "peer", "a Uint8Array");
  const auto array = value.As<Napi::TypedArray>();
  const auto* begin = static_cast<const char*>(array.ArrayBuffer().Data()) + array.ByteOffset();
  return {begin, array.ByteLength()};
}

uint64_t NumberIn(const Napi::CallbackInfo& info, const Napi::Value& value) {
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1;
  if (!(number >= 0 && number < 4294967296.0)) throw InvalidArgument(info, "peer", "unsigned integers of 32 bits");
  return static_cast<uint64_t>(number);
}

PeerAddress PeerAddressOf(const Napi::CallbackInfo& info, const Napi::Value& value) {
  PeerAddress peer;
  if (value.IsTypedArray()) {
    peer.network = BytesIn(info, value);
    return peer;
  }
  if (!value.IsObject()) throw InvalidArgument(info, "peer", "an object or a Uint8Array");
  const auto object = value.As<Napi::Object>();
  peer.shared = true;
  peer.memory.pid = NumberIn(info, object.Get("pid"));
  peer.memory.memory = NumberIn(info, object.Get("memory"));
  peer.memory.token = BytesIn(info, object.Get("token"));
  return peer;
}

}  // namespace

Napi::Value OfferCommunicator(const Napi::CallbackInfo& info) {
  Stream& stream = StreamArgument(info);
  const uint64_t rank = CountOf(info, 1, "rank");
  const uint64_t ranks = CountOf(info, 2, "ranks");
  if (ranks > kMaxRanks || rank >= ranks)
    throw InvalidArgument(info, "rank", "less than the number of ranks, which is at most 65536");
  return Guarded(info.Env(), "create a communicator", [&]() -> Napi::Value {
    auto communicator = std::make_shared<Communicator>(rank, ranks);
    const SharedMemoryAddress address = communicator->shared_address();
    stream.SetCommunicator(std::move(communicator));
    auto offered = Napi::Object::New(info.Env());
    offered.Set("pid", Napi::Number::New(info.Env(), static_cast<double>(address.pid)));
    offered.Set("memory", Napi::Number::New(info.Env(), static_cast<double>(address.memory)));
    offered.Set("token", BytesFor(info.Env(), address.token));
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

Napi::Value ListenForPeers(const Napi::CallbackInfo& info) {
  const auto& communicator = CommunicatorArgument(info);
  const std::string address = TextOf(info, 1, "address");
  return Guarded(info.Env(), "listen for other machines", [&]() -> Napi::Value {
    const auto addresses = communicator->Listen(address);
    auto array = Napi::Array::New(info.Env(), addresses.size());
    for (uint32_t i = 0; i < addresses.size(); i++) array.Set(i, BytesFor(info.Env(), addresses[i]));
    return array;
  });
}

Napi::Value ConnectCommunicator(const Napi::CallbackInfo& info) {
  const auto communicator = CommunicatorArgument(info);
  if (!info[1].IsArray() || !info[2].IsArray()) throw InvalidArgument(info, "peers", "arrays of sizes and of peers");
  const auto extent = info[1].As<Napi::Array>();
  std::vector<size_t> sizes;
  uint64_t ranks = 1;
  for (uint32_t i = 0; i < extent.Length(); i++) {
    sizes.push_back(NumberIn(info, extent.Get(i)));
    ranks = ranks <= kMaxRanks ? ranks * sizes.back() : ranks;
  }
  // A mesh without dimensions has one process. It is treated as a mesh with one dimension of size 1.
  if (sizes.empty()) sizes.push_back(1);
  const auto array = info[2].As<Napi::Array>();
  if (ranks != communicator->ranks() || array.Length() != ranks)
    throw InvalidArgument(info, "peers", "one for each process of the mesh");
  std::vector<PeerAddress> peers;
  for (uint32_t i = 0; i < array.Length(); i++) peers.push_back(PeerAddressOf(info, array.Get(i)));
  const auto nccl = info[3].ToBoolean() ? StreamArgument(info).nccl() : nullptr;
  return SubmitTask(info, "reach the other processes of the mesh",
                    [communicator, sizes, peers, nccl](Executor& executor, Outcome&) {
                      for (size_t peer = 0; peer < peers.size(); peer++) {
                        if (peer == communicator->rank()) continue;
                        if (peers[peer].shared) {
                          communicator->ConnectShared(peer, peers[peer].memory);
                        } else {
                          communicator->ConnectRemote(peer, peers[peer].network);
                        }
                      }
                      executor.Connect(communicator, sizes, nccl);
                    });
}
