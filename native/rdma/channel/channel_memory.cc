#include "channel/channel_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "channel/descriptors.h"
#include "node/arguments.h"
#include "node/file_status.h"

namespace {

constexpr int kChannelSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/**
 * The process that offers the channel writes the first ring, and the process that joins the channel writes the second.
 */
constexpr size_t kOffered = 0;
constexpr size_t kJoined = 1;

/** The first page. The bytes of the first ring and then those of the second ring follow it. */
struct ChannelHead {
  uint8_t token[ChannelMemory::kTokenBytes];
  std::atomic<uint64_t> before[2];
  RingControl rings[2];
};

constexpr size_t kChannelHeadBytes = 4096;
static_assert(sizeof(ChannelHead) <= kChannelHeadBytes);

void CloseDescriptor(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

ChannelHead* HeadOf(void* base) {
  return static_cast<ChannelHead*>(base);
}

uint8_t* RingOf(void* base, size_t ring, size_t size) {
  return static_cast<uint8_t*>(base) + kChannelHeadBytes + ring * size;
}

}  // namespace

ChannelMemory::~ChannelMemory() {
  CloseDescriptor(memory_);
  CloseDescriptor(waker_);
  CloseDescriptor(awaited_);
  if (base_ != nullptr) munmap(base_, kChannelHeadBytes + 2 * size_);
}

void ChannelMemory::Offer(Napi::Env env, const uint8_t* token) {
  memory_ = memfd_create("viceroy-link", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory_ < 0 || ftruncate(memory_, static_cast<off_t>(kChannelHeadBytes + 2 * size_)) != 0 ||
      fcntl(memory_, F_ADD_SEALS, kChannelSeals) != 0) {
    throw SystemError(env, "create the memory of a channel", errno);
  }
  int own[2];
  int other[2];
  if (pipe2(own, O_CLOEXEC | O_NONBLOCK) != 0) throw SystemError(env, "create a channel", errno);
  awaited_ = own[0];
  const bool made = pipe2(other, O_CLOEXEC | O_NONBLOCK) == 0;
  const int number = errno;
  close(own[1]);
  if (!made) throw SystemError(env, "create a channel", number);
  waker_ = other[1];
  close(other[0]);
  Map(env);
  std::memcpy(HeadOf(base_)->token, token, kTokenBytes);
  sends_ = kOffered;
}

void ChannelMemory::Join(Napi::Env env, const uint8_t* token, uint64_t pid, uint64_t memory, uint64_t waker,
                         uint64_t awaited) {
  // The pipes are opened before the memory: if the token in the memory is right, the same process has owned this pid
  // throughout.
  awaited_ = OpenDescriptor(env, pid, waker, S_IFIFO, O_RDONLY | O_NONBLOCK, "waker");
  waker_ = OpenDescriptor(env, pid, awaited, S_IFIFO, O_WRONLY | O_NONBLOCK, "waker");
  memory_ = OpenDescriptor(env, pid, memory, S_IFREG, O_RDWR, "memory");
  // If the memory could shrink, reading beyond its new end would end this process with SIGBUS.
  const int seals = fcntl(memory_, F_GET_SEALS);
  struct statx status;
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || !StatusOf(memory_, &status) ||
      status.stx_size != kChannelHeadBytes + 2 * size_) {
    throw SystemError(env, "join a channel whose memory is not sealed, or of another size", EPERM);
  }
  Map(env);
  CloseMemory();
  if (std::memcmp(HeadOf(base_)->token, token, kTokenBytes) != 0) {
    throw SystemError(env, "join a channel that is not the one that was offered", EPERM);
  }
  sends_ = kJoined;
}

void ChannelMemory::Map(Napi::Env env) {
  void* base = mmap(nullptr, kChannelHeadBytes + 2 * size_, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
  if (base == MAP_FAILED) throw SystemError(env, "map the memory of a channel", errno);
  base_ = base;
}

RingWriter ChannelMemory::Writer() const {
  return RingWriter(&HeadOf(base_)->rings[sends_], RingOf(base_, sends_, size_), size_);
}

RingReader ChannelMemory::Reader() const {
  const size_t receives = 1 - sends_;
  return RingReader(&HeadOf(base_)->rings[receives], RingOf(base_, receives, size_), size_);
}

std::atomic<uint64_t>& ChannelMemory::sent_before() const {
  return HeadOf(base_)->before[sends_];
}

const std::atomic<uint64_t>& ChannelMemory::received_before() const {
  return HeadOf(base_)->before[1 - sends_];
}

void ChannelMemory::CloseMemory() {
  CloseDescriptor(memory_);
}
