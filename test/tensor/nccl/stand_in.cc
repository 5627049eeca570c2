/**
 * A stand-in for the library NCCL, for tests alone, on machines without a graphics processor. It has the functions of NCCL's C interface that
 * Viceroy calls, and does by sockets between processes, in memory of processors, what NCCL does between graphics processors. What it shows is how
 * Viceroy opens the library, calls it, waits for it, and gives it up; never that anything works on a graphics processor.
 *
 * Where NCCL leaves a choice it is the unkind one: nothing is done when a function returns, and who waits for a process that has ended waits for
 * ever. Built with macros it lacks what else it has: NO_HOST_MEMORY, NO_CONFIG, NO_SEND. Told by its environment it fails:
 *
 *     STAND_IN_VERSION=2604          what ncclGetVersion says
 *     STAND_IN_REFUSES=ncclReduce    that function answers an error
 *     STAND_IN_BREAKS=ncclReduce     that function answers none, and what it began fails later
 *     STAND_IN_STALLS=ncclReduce     what that function began is never done
 *     STAND_IN_LOG=file              a line for each call
 */
#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kSuccess = 0, kInternalError = 3, kInvalidArgument = 4, kRemoteError = 6, kInProgress = 7;

std::string Setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void Log(const std::string& line) {
  const std::string file = Setting("STAND_IN_LOG");
  if (file.empty()) return;
  const int log = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string whole = std::to_string(getpid()) + " " + line + "\n";
  if (log < 0 || write(log, whole.data(), whole.size()) < 0) std::perror("STAND_IN_LOG");
  if (log >= 0) close(log);
}

struct Id {
  char bytes[128];
};

struct Sent {
  size_t peer;
  const uint8_t* data;
  size_t bytes;
};
struct Received {
  size_t peer;
  uint8_t* into;
  size_t bytes;
};

struct Given {
  std::function<void()> run;
  std::string name;
};

}  // namespace

struct ncclComm {
  size_t rank = 0;
  size_t ranks = 0;
  std::string name;
  int listener = -1;
  std::vector<int> peers;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Given> given;
  bool busy = false;
  std::atomic<bool> aborted{false};
  std::atomic<int> failure{kSuccess};

  void Check() const {
    if (aborted) throw std::runtime_error("aborted");
  }

  sockaddr_un AddressOf(size_t peer, socklen_t& length) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // Without a file: it begins with 0.
    const std::string text = name + "-" + std::to_string(peer);
    std::memcpy(address.sun_path + 1, text.data(), text.size());
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    return address;
  }

  /** Each listens, and calls those before it. */
  void Meet() {
    peers.assign(ranks, -1);
    socklen_t length = 0;
    sockaddr_un own = AddressOf(rank, length);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(listener, reinterpret_cast<sockaddr*>(&own), length) != 0 || listen(listener, 64) != 0) throw std::runtime_error("cannot listen");
    for (size_t peer = 0; peer < rank; peer++) {
      sockaddr_un address = AddressOf(peer, length);
      peers[peer] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      while (connect(peers[peer], reinterpret_cast<sockaddr*>(&address), length) != 0) {
        Check();
        usleep(1000);
      }
      const auto self = static_cast<uint32_t>(rank);
      if (write(peers[peer], &self, sizeof self) != sizeof self) throw std::runtime_error("cannot say who this is");
    }
    for (size_t left = ranks - rank - 1; left > 0;) {
      Check();
      const int accepted = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (accepted < 0) {
        usleep(1000);
        continue;
      }
      uint32_t peer = 0;
      if (read(accepted, &peer, sizeof peer) != sizeof peer || peer >= ranks) throw std::runtime_error("somebody else calls");
      peers[peer] = accepted;
      left--;
    }
    for (const int peer : peers) {
      if (peer >= 0) fcntl(peer, F_SETFL, O_NONBLOCK);
    }
  }

  /** All at once. Who has ended is waited for. */
  void Exchange(std::vector<Sent> sends, std::vector<Received> receives) {
    while (true) {
      Check();
      bool moved = false, left = false;
      for (auto& [peer, data, bytes] : sends) {
        if (bytes == 0) continue;
        left = true;
        const ssize_t count = ::send(peers[peer], data, bytes, MSG_NOSIGNAL);
        if (count <= 0) continue;
        data += count;
        bytes -= static_cast<size_t>(count);
        moved = true;
      }
      for (auto& [peer, into, bytes] : receives) {
        if (bytes == 0) continue;
        left = true;
        const ssize_t count = read(peers[peer], into, bytes);
        if (count <= 0) continue;
        into += count;
        bytes -= static_cast<size_t>(count);
        moved = true;
      }
      if (!left) return;
      if (!moved) usleep(200);
    }
  }

  /** What each of all sends to all. */
  std::vector<std::vector<uint8_t>> All(const uint8_t* own, size_t bytes) {
    std::vector<std::vector<uint8_t>> all(ranks, std::vector<uint8_t>(bytes));
    std::vector<Sent> sends;
    std::vector<Received> receives;
    std::memcpy(all[rank].data(), own, bytes);
    for (size_t peer = 0; peer < ranks; peer++) {
      if (peer == rank) continue;
      sends.push_back({peer, own, bytes});
      receives.push_back({peer, all[peer].data(), bytes});
    }
    Exchange(std::move(sends), std::move(receives));
    return all;
  }

  void Run() {
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return aborted || !given.empty(); });
      if (aborted) return;
      const Given next = std::move(given.front());
      given.pop_front();
      busy = true;
      lock.unlock();
      try {
        if (Setting("STAND_IN_STALLS") == next.name) {
          while (true) Exchange({}, {}), usleep(1000);
        } else if (Setting("STAND_IN_BREAKS") == next.name) {
          failure = kRemoteError;
        } else {
          next.run();
        }
      } catch (const std::exception&) {
        failure = kInternalError;
      }
      lock.lock();
      busy = false;
      changed.notify_all();
    }
  }
};

namespace {

using Comm = ncclComm*;

struct Half {
  uint16_t bits;
  float value() const {
    _Float16 half;
    std::memcpy(&half, &bits, sizeof half);
    return static_cast<float>(half);
  }
  static Half Of(float value) {
    const auto half = static_cast<_Float16>(value);
    Half made;
    std::memcpy(&made.bits, &half, sizeof half);
    return made;
  }
};

struct Brain {
  uint16_t bits;
  float value() const {
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
  }
  static Brain Of(float value) {
    uint32_t wide;
    std::memcpy(&wide, &value, sizeof wide);
    return {static_cast<uint16_t>((wide + 0x7fff + (wide >> 16 & 1)) >> 16)};
  }
};

template <class T>
T Combined(T a, T b, int op) {
  return static_cast<T>(op == 0 ? a + b : op == 1 ? a * b : op == 2 ? (a > b ? a : b) : (a < b ? a : b));
}
Half Combined(Half a, Half b, int op) {
  return Half::Of(Combined(a.value(), b.value(), op));
}
Brain Combined(Brain a, Brain b, int op) {
  return Brain::Of(Combined(a.value(), b.value(), op));
}

template <class T>
void CombineAs(uint8_t* into, const uint8_t* other, size_t count, int op) {
  for (size_t i = 0; i < count; i++) {
    T a, b;
    std::memcpy(&a, into + i * sizeof(T), sizeof(T));
    std::memcpy(&b, other + i * sizeof(T), sizeof(T));
    a = Combined(a, b, op);
    std::memcpy(into + i * sizeof(T), &a, sizeof(T));
  }
}

struct Type {
  size_t bytes;
  void (*combine)(uint8_t*, const uint8_t*, size_t, int);
};

/** By `ncclDataType_t`. */
const Type kTypes[] = {{1, CombineAs<int8_t>},   {1, CombineAs<uint8_t>},  {4, CombineAs<int32_t>}, {4, CombineAs<uint32_t>}, {8, CombineAs<int64_t>},
                       {8, CombineAs<uint64_t>}, {2, CombineAs<Half>},     {4, CombineAs<float>},   {8, CombineAs<double>},   {2, CombineAs<Brain>}};

/** What all have, combined by rank. */
std::vector<uint8_t> Reduced(Comm comm, const uint8_t* in, size_t count, int type, int op) {
  auto all = comm->All(in, count * kTypes[type].bytes);
  for (size_t i = 1; i < all.size(); i++) kTypes[type].combine(all[0].data(), all[i].data(), count, op);
  return all[0];
}

/** Groups are of a thread. */
thread_local bool grouped = false;
struct GroupCall {
  Comm comm;
  bool sends;
  size_t peer;
  uint8_t* data;
  size_t bytes;
};
thread_local std::vector<GroupCall> calls;
/** Of a call in it: then none of them is done. */
thread_local int group_error = kSuccess;

int Give(Comm comm, const std::string& name, std::function<void()> run) {
  Log(name);
  if (comm->failure != kSuccess) return comm->failure;
  if (Setting("STAND_IN_REFUSES") == name) return kInternalError;
  std::lock_guard<std::mutex> lock(comm->mutex);
  comm->given.push_back({std::move(run), name});
  comm->changed.notify_all();
  return kInProgress;
}

int Begin(Comm* made, int ranks, const Id& id, int rank) {
  if (rank < 0 || rank >= ranks || id.bytes[0] == 0) return kInvalidArgument;
  auto comm = new ncclComm;
  comm->rank = static_cast<size_t>(rank);
  comm->ranks = static_cast<size_t>(ranks);
  comm->name = std::string(id.bytes);
  *made = comm;
  return kSuccess;
}

void WaitFor(Comm comm) {
  std::unique_lock<std::mutex> lock(comm->mutex);
  comm->changed.wait(lock, [comm] { return (comm->given.empty() && !comm->busy) || comm->failure != kSuccess; });
}

}  // namespace

#ifndef NO_HOST_MEMORY
/** NCCL has no such function: by it Viceroy is told that tensors in memory of processors can be given to this one. */
EXPORTED int viceroyStandInTakesHostMemory() {
  return 1;
}
#endif

EXPORTED int ncclGetVersion(int* version) {
  const std::string said = Setting("STAND_IN_VERSION");
  *version = said.empty() ? 22203 : std::stoi(said);
  return kSuccess;
}

EXPORTED const char* ncclGetErrorString(int result) {
  return result == kInternalError ? "internal error" : result == kRemoteError ? "remote process exited or there was a network error" : "another error";
}

EXPORTED const char* ncclGetLastError(Comm) {
  return "by the stand-in";
}

EXPORTED int ncclGetUniqueId(Id* id) {
  Log("ncclGetUniqueId");
  if (Setting("STAND_IN_REFUSES") == "ncclGetUniqueId") return kInternalError;
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) return kInternalError;
  *id = {};
  std::snprintf(id->bytes, sizeof id->bytes, "stand-in-%016llx", static_cast<unsigned long long>(random));
  return kSuccess;
}

EXPORTED int ncclCommInitRank(Comm* made, int ranks, Id id, int rank) {
  const int result = Begin(made, ranks, id, rank);
  if (result != kSuccess) return result;
  (*made)->thread = std::thread([comm = *made] { comm->Run(); });
  Give(*made, "ncclCommInitRank", [comm = *made] { comm->Meet(); });
  WaitFor(*made);
  return (*made)->failure;
}

#ifndef NO_CONFIG
struct Config {
  size_t size;
  unsigned magic, version;
  int blocking;
};
EXPORTED int ncclCommInitRankConfig(Comm* made, int ranks, Id id, int rank, Config* config) {
  if (config->size < sizeof(Config) || config->magic != 0xcafebeef || config->version < 21400 || config->blocking != 0) return kInvalidArgument;
  const int result = Begin(made, ranks, id, rank);
  if (result != kSuccess) return result;
  (*made)->thread = std::thread([comm = *made] { comm->Run(); });
  return Give(*made, "ncclCommInitRankConfig", [comm = *made] { comm->Meet(); });
}
#endif

EXPORTED int ncclCommAbort(Comm comm) {
  Log("ncclCommAbort");
  {
    std::lock_guard<std::mutex> lock(comm->mutex);
    comm->aborted = true;
    comm->changed.notify_all();
  }
  comm->thread.join();
  for (const int peer : comm->peers) {
    if (peer >= 0) close(peer);
  }
  if (comm->listener >= 0) close(comm->listener);
  delete comm;
  return kSuccess;
}

EXPORTED int ncclCommGetAsyncError(Comm comm, int* result) {
  std::lock_guard<std::mutex> lock(comm->mutex);
  *result = comm->failure != kSuccess ? comm->failure.load() : comm->busy || !comm->given.empty() ? kInProgress : kSuccess;
  return kSuccess;
}

EXPORTED int ncclAllReduce(const uint8_t* in, uint8_t* out, size_t count, int type, int op, Comm comm, void*) {
  return Give(comm, "ncclAllReduce", [=] {
    const auto reduced = Reduced(comm, in, count, type, op);
    std::memcpy(out, reduced.data(), reduced.size());
  });
}

EXPORTED int ncclReduce(const uint8_t* in, uint8_t* out, size_t count, int type, int op, int root, Comm comm, void*) {
  return Give(comm, "ncclReduce", [=] {
    const auto reduced = Reduced(comm, in, count, type, op);
    if (comm->rank == static_cast<size_t>(root)) std::memcpy(out, reduced.data(), reduced.size());
  });
}

EXPORTED int ncclReduceScatter(const uint8_t* in, uint8_t* out, size_t count, int type, int op, Comm comm, void*) {
  return Give(comm, "ncclReduceScatter", [=] {
    const auto reduced = Reduced(comm, in, count * comm->ranks, type, op);
    const size_t bytes = count * kTypes[type].bytes;
    std::memcpy(out, reduced.data() + comm->rank * bytes, bytes);
  });
}

EXPORTED int ncclAllGather(const uint8_t* in, uint8_t* out, size_t count, int type, Comm comm, void*) {
  return Give(comm, "ncclAllGather", [=]() mutable {
    for (const auto& one : comm->All(in, count * kTypes[type].bytes)) out = std::copy(one.begin(), one.end(), out);
  });
}

EXPORTED int ncclBroadcast(const uint8_t* in, uint8_t* out, size_t count, int type, int root, Comm comm, void*) {
  return Give(comm, "ncclBroadcast", [=] {
    const auto all = comm->All(in, count * kTypes[type].bytes);
    const auto& from = all[static_cast<size_t>(root)];
    std::memcpy(out, from.data(), from.size());
  });
}

EXPORTED int ncclGroupStart() {
  grouped = true;
  group_error = kSuccess;
  calls.clear();
  return kSuccess;
}

EXPORTED int ncclGroupEnd() {
  grouped = false;
  if (group_error != kSuccess || calls.empty()) return group_error;
  const Comm comm = calls.front().comm;
  return Give(comm, "ncclGroupEnd", [comm, all = std::move(calls)] {
    std::vector<Sent> sends;
    std::vector<Received> receives;
    const GroupCall* self = nullptr;
    for (const auto& call : all) {
      if (call.peer == comm->rank && call.sends) self = &call;
    }
    for (const auto& call : all) {
      if (call.peer == comm->rank) {
        if (!call.sends) std::memcpy(call.data, self->data, call.bytes);
      } else if (call.sends) {
        sends.push_back({call.peer, call.data, call.bytes});
      } else {
        receives.push_back({call.peer, call.data, call.bytes});
      }
    }
    comm->Exchange(std::move(sends), std::move(receives));
  });
}

#ifndef NO_SEND
EXPORTED int ncclSend(const uint8_t* data, size_t count, int type, int peer, Comm comm, void*) {
  Log("ncclSend");
  if (!grouped) return kInvalidArgument;
  if (Setting("STAND_IN_REFUSES") == "ncclSend") return group_error = kInternalError;
  calls.push_back({comm, true, static_cast<size_t>(peer), const_cast<uint8_t*>(data), count * kTypes[type].bytes});
  return kSuccess;
}
#endif

EXPORTED int ncclRecv(uint8_t* data, size_t count, int type, int peer, Comm comm, void*) {
  Log("ncclRecv");
  if (!grouped) return kInvalidArgument;
  calls.push_back({comm, false, static_cast<size_t>(peer), data, count * kTypes[type].bytes});
  return kSuccess;
}
