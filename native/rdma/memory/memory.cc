#include "memory/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "node/arguments.h"
#include "node/environment.h"
#include "node/file_status.h"

namespace {

constexpr size_t kHugePage = 2 << 20;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/** The references that an ArrayBuffer holds. */
struct Share {
  std::weak_ptr<Environment> environment;
  std::weak_ptr<Mapping> mapping;
};

/**
 * Runs when the ArrayBuffer has been collected, and drops its reference to the mapping, unless `unmap` has done so
 * before. Another mapping may have the same address by now, so the mappings are compared, too.
 */
void Release(Napi::Env, void* base, Share* share) {
  auto environment = share->environment.lock();
  auto mapping = share->mapping.lock();
  if (environment && mapping) {
    auto found = environment->mappings.find(base);
    if (found != environment->mappings.end() && found->second == mapping) environment->mappings.erase(found);
  }
  delete share;
}

Napi::ArrayBuffer BufferOver(Napi::Env env, void* base, size_t length, bool wiped) {
  auto environment = Environment::Of(env);
  // Huge pages make copies by other processes faster, if the system supports them for these files. This is only a hint.
  if (length >= kHugePage) madvise(base, length, MADV_HUGEPAGE);
  auto mapping = std::make_shared<Mapping>(base, length, wiped);
  environment->mappings[base] = mapping;
  auto share = new Share{environment, mapping};
  try {
    // V8 counts the length of the ArrayBuffer as memory outside its heap.
    return Napi::ArrayBuffer::New(env, base, length, Release, share);
  } catch (...) {
    environment->mappings.erase(base);
    delete share;
    throw;
  }
}

/** The largest number of pieces of one system call, which the system limits to 1024. */
constexpr size_t kMaxPieces = 1024;

/** Writes all pieces at the end of a file. Returns 0 or an errno. */
int WriteAll(int fd, std::vector<iovec>& pieces) {
  size_t next = 0;
  while (next < pieces.size()) {
    const size_t count = std::min(pieces.size() - next, kMaxPieces);
    const ssize_t done = writev(fd, &pieces[next], static_cast<int>(count));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    auto left = static_cast<size_t>(done);
    while (next < pieces.size() && left >= pieces[next].iov_len) left -= pieces[next++].iov_len;
    if (left == 0) continue;
    pieces[next].iov_base = static_cast<uint8_t*>(pieces[next].iov_base) + left;
    pieces[next].iov_len -= left;
  }
  return 0;
}

/** Creates empty memory, and returns its descriptor. */
int NewMemory(Napi::Env env) {
  const int fd = memfd_create("viceroy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) throw SystemError(env, "create memory", errno);
  return fd;
}

/** Asks for, or tests, a lock of the whole file that belongs to the open file and not to the process. */
int LockOf(int fd, int command, short type, struct flock* lock) {
  *lock = {};
  lock->l_type = type;
  lock->l_whence = SEEK_SET;
  return fcntl(fd, command, lock);
}

}  // namespace

Napi::Value CreateMemory(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  const uint64_t bytes = CountOf(info, 0, "bytes");
  if (bytes == 0) throw Napi::RangeError::New(env, "invalid bytes: expected more than 0");
  const int fd = NewMemory(env);
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0 || fcntl(fd, F_ADD_SEALS, kSeals) != 0) {
    const int number = errno;
    close(fd);
    throw SystemError(env, "create " + std::to_string(bytes) + " bytes of memory", number);
  }
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) {
    const int number = errno;
    close(fd);
    throw SystemError(env, "map " + std::to_string(bytes) + " bytes of memory", number);
  }
  try {
    Napi::Object result = Napi::Object::New(env);
    result.Set("buffer", BufferOver(env, base, bytes, info[1].ToBoolean()));
    result.Set("fd", Napi::Number::New(env, fd));
    return result;
  } catch (...) {
    close(fd);
    throw;
  }
}

Napi::Value MapMemory(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  const int fd = static_cast<int>(CountOf(info, 0, "fd"));
  const uint64_t offset = CountOf(info, 1, "offset");
  const uint64_t bytes = CountOf(info, 2, "bytes");
  const bool shared = CountOf(info, 3, "mode") == 0;
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0) throw SystemError(env, "map memory of another process", errno);
  if ((seals & F_SEAL_SHRINK) == 0) throw SystemError(env, "map memory that is not sealed", EPERM);
  struct statx status;
  if (!StatusOf(fd, &status)) throw SystemError(env, "map memory of another process", errno);
  const uint64_t size = status.stx_size;
  if (bytes == 0 || offset > size || bytes > size - offset) {
    throw SystemError(env, "map more memory than there is", EINVAL);
  }
  void* base =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE, fd, static_cast<off_t>(offset));
  if (base == MAP_FAILED) throw SystemError(env, "map " + std::to_string(bytes) + " bytes of memory", errno);
  return BufferOver(env, base, bytes, false);
}

Napi::Value StoreMemory(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (!info[0].IsArray()) throw Napi::TypeError::New(env, "invalid parts: expected an array");
  const auto parts = info[0].As<Napi::Array>();
  std::vector<iovec> rest;
  for (uint32_t i = 0; i < parts.Length(); i++) {
    const Napi::Value part = parts.Get(i);
    if (!part.IsTypedArray()) throw Napi::TypeError::New(env, "invalid parts: expected typed arrays");
    auto bytes = part.As<Napi::Uint8Array>();
    if (bytes.ByteLength() > 0) rest.push_back({bytes.Data(), bytes.ByteLength()});
  }
  const int fd = NewMemory(env);
  // Writing to the file takes half of the time of writing through a mapping, whose pages the system would zero first.
  const int number = WriteAll(fd, rest);
  if (number != 0 || fcntl(fd, F_ADD_SEALS, kSeals | F_SEAL_WRITE) != 0) {
    const int failed = number != 0 ? number : errno;
    close(fd);
    throw SystemError(env, "store bytes in memory", failed);
  }
  return Napi::Number::New(env, fd);
}

Napi::Value BeginMemory(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), NewMemory(info.Env()));
}

Napi::Value SealMemory(const Napi::CallbackInfo& info) {
  const int fd = static_cast<int>(CountOf(info, 0, "fd"));
  if (fcntl(fd, F_ADD_SEALS, kSeals | F_SEAL_WRITE) != 0) throw SystemError(info.Env(), "seal memory", errno);
  return info.Env().Undefined();
}

Napi::Value MarkUsed(const Napi::CallbackInfo& info) {
  const int fd = static_cast<int>(CountOf(info, 0, "fd"));
  struct flock lock;
  if (LockOf(fd, F_OFD_SETLK, F_RDLCK, &lock) != 0) throw SystemError(info.Env(), "mark a file as used", errno);
  return info.Env().Undefined();
}

Napi::Value IsUsed(const Napi::CallbackInfo& info) {
  const int fd = static_cast<int>(CountOf(info, 0, "fd"));
  struct flock lock;
  if (LockOf(fd, F_OFD_GETLK, F_WRLCK, &lock) != 0) throw SystemError(info.Env(), "find out who uses a file", errno);
  return Napi::Boolean::New(info.Env(), lock.l_type != F_UNLCK);
}

Napi::Value CountMemory(const Napi::CallbackInfo& info) {
  Napi::MemoryManagement::AdjustExternalMemory(info.Env(), info[0].ToNumber().Int64Value());
  return info.Env().Undefined();
}

Napi::Value Unmap(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (!info[0].IsArrayBuffer()) throw Napi::TypeError::New(env, "invalid buffer: expected an ArrayBuffer");
  auto buffer = info[0].As<Napi::ArrayBuffer>();
  void* base = buffer.Data();
  auto environment = Environment::Of(env);
  auto found = environment->mappings.find(base);
  if (base == nullptr || found == environment->mappings.end()) return env.Undefined();
  // The memory must stay mapped until the buffer is detached.
  auto mapping = std::move(found->second);
  environment->mappings.erase(found);
  buffer.Detach();
  return env.Undefined();
}

Napi::Value AddressOfView(const Napi::CallbackInfo& info) {
  return Napi::BigInt::New(info.Env(), reinterpret_cast<uint64_t>(BytesOf(info, 0, "view").data));
}
