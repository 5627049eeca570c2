#include "collectives/shared_memory.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

/** The first page of the memory. The controls of all rings follow it, and then the rings. */
struct MemoryHeader {
  uint8_t token[SharedMemoryAddress::kTokenBytes];
  alignas(64) std::atomic<uint32_t> event_count;
  std::atomic<uint32_t> sleeping;
  std::atomic<uint32_t> left;
};

/** The control words of a ring. Positions count bytes and never wrap. */
struct RingControl {
  alignas(64) std::atomic<uint64_t> sent;
  /** Set if the writer sends no more messages. */
  std::atomic<uint32_t> closed;
  /** Written by the reader. */
  alignas(64) std::atomic<uint64_t> taken;
};

namespace {

constexpr size_t kHeaderBytes = 4096;
/** Small enough that written data stays in the CPU's caches until the peer reads it. */
constexpr size_t kRingBytes = 1 << 20;
constexpr int kMemorySeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

constexpr size_t RoundUp(size_t bytes, size_t to) {
  return (bytes + to - 1) / to * to;
}

[[noreturn]] void ThrowSystemError(const std::string& what, int number) {
  throw std::runtime_error("cannot " + what + ": " + std::generic_category().message(number));
}

/**
 * Opens a file of another process of this user. The kind of the file is checked before, because opening some kinds of
 * files has side effects.
 */
int OpenMemoryOf(uint64_t pid, uint64_t memory) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(memory);
  const std::string what = "open the memory of process " + std::to_string(pid);
  const int found = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (found < 0) ThrowSystemError(what, errno);
  struct stat status;
  const bool fits = fstat(found, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
  const std::string self = "/proc/self/fd/" + std::to_string(found);
  const int opened = fits ? open(self.c_str(), O_RDWR | O_CLOEXEC) : -1;
  const int number = fits ? errno : EPERM;
  close(found);
  if (opened < 0) ThrowSystemError(what, number);
  return opened;
}

}  // namespace

MemoryHeader* SharedMemoryTransport::HeaderOf(void* base) {
  return static_cast<MemoryHeader*>(base);
}

RingControl& SharedMemoryTransport::ControlIn(void* base, size_t peer) const {
  return reinterpret_cast<RingControl*>(static_cast<uint8_t*>(base) + kHeaderBytes)[peer];
}

uint8_t* SharedMemoryTransport::RingIn(void* base, size_t peer) const {
  return static_cast<uint8_t*>(base) + kHeaderBytes + RoundUp(ranks_ * sizeof(RingControl), kHeaderBytes) +
         peer * kRingBytes;
}

size_t SharedMemoryTransport::bytes() const {
  return kHeaderBytes + RoundUp(ranks_ * sizeof(RingControl), kHeaderBytes) + ranks_ * kRingBytes;
}

SharedMemoryTransport::SharedMemoryTransport(size_t rank, size_t ranks) : rank_(rank), ranks_(ranks), peers_(ranks) {
  memory_ = memfd_create("viceroy-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory_ < 0) ThrowSystemError("create shared memory", errno);
  // Pages that are never written to take no memory.
  void* base = MAP_FAILED;
  if (ftruncate(memory_, static_cast<off_t>(bytes())) == 0 && fcntl(memory_, F_ADD_SEALS, kMemorySeals) == 0) {
    base = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
  }
  const int number = errno;
  const bool made = base != MAP_FAILED && getrandom(HeaderOf(base)->token, SharedMemoryAddress::kTokenBytes, 0) ==
                                              static_cast<ssize_t>(SharedMemoryAddress::kTokenBytes);
  if (!made) {
    if (base != MAP_FAILED) munmap(base, bytes());
    close(memory_);
    ThrowSystemError("create " + std::to_string(bytes()) + " bytes of shared memory", number);
  }
  base_ = base;
}

SharedMemoryTransport::~SharedMemoryTransport() {
  Leave();
  for (const Peer& peer : peers_) {
    if (peer.base != nullptr) munmap(peer.base, bytes());
    if (peer.process >= 0) close(peer.process);
  }
  munmap(base_, bytes());
  close(memory_);
}

SharedMemoryAddress SharedMemoryTransport::address() const {
  return {static_cast<uint64_t>(getpid()), static_cast<uint64_t>(memory_),
          std::string(reinterpret_cast<const char*>(HeaderOf(base_)->token), SharedMemoryAddress::kTokenBytes)};
}

void SharedMemoryTransport::Open(size_t peer, const SharedMemoryAddress& address) {
  Peer& opened = peers_.at(peer);
  if (opened.header != nullptr || peer == rank_)
    throw std::runtime_error("this process is already connected to rank " + std::to_string(peer));
  const int memory = OpenMemoryOf(address.pid, address.memory);
  // If the memory could shrink, reading beyond its new end would end this process with SIGBUS.
  const int seals = fcntl(memory, F_GET_SEALS);
  struct stat status;
  const bool fits = seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(memory, &status) == 0 &&
                    static_cast<uint64_t>(status.st_size) == bytes();
  void* base = fits ? mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0) : MAP_FAILED;
  close(memory);
  if (base == MAP_FAILED)
    ThrowSystemError("map the memory of process " + std::to_string(address.pid), fits ? errno : EPERM);
  if (std::string(reinterpret_cast<const char*>(HeaderOf(base)->token), SharedMemoryAddress::kTokenBytes) !=
      address.token) {
    munmap(base, bytes());
    throw std::runtime_error("the memory of process " + std::to_string(address.pid) +
                             " belongs to another communicator");
  }
  opened.base = base;
  opened.header = HeaderOf(base);
  opened.pid = address.pid;
#ifdef SYS_pidfd_open
  opened.process = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(address.pid), 0));
#endif
}

size_t SharedMemoryTransport::TryWrite(size_t peer, const uint8_t* data, size_t left) {
  Peer& to = peers_[peer];
  RingControl& control = ControlIn(base_, peer);
  const uint64_t used = to.sent - control.taken.load(std::memory_order_acquire);
  if (used > kRingBytes || used % kAlign != 0)
    throw std::runtime_error("rank " + std::to_string(peer) + " released bytes that were not sent");
  const size_t at = to.sent % kRingBytes;
  const size_t piece = std::min({left, static_cast<size_t>(kRingBytes - used), kRingBytes - at, kPiece});
  if (piece == 0) return 0;
  std::memcpy(RingIn(base_, peer) + at, data, piece);
  to.sent += RoundUp(piece, kAlign);
  control.sent.store(to.sent, std::memory_order_release);
  CountUnnotified(to, piece);
  return piece;
}

size_t SharedMemoryTransport::Peek(size_t peer, size_t left, size_t most, const uint8_t*& data) const {
  const Peer& from = peers_[peer];
  const uint64_t come = ControlIn(from.base, rank_).sent.load(std::memory_order_acquire) - from.taken;
  if (come > kRingBytes || come % kAlign != 0)
    throw std::runtime_error("rank " + std::to_string(peer) + " sent more bytes than the ring holds");
  const size_t at = from.taken % kRingBytes;
  data = RingIn(from.base, rank_) + at;
  return std::min({left, most, static_cast<size_t>(come), kRingBytes - at});
}

void SharedMemoryTransport::Release(size_t peer, size_t bytes, size_t left) {
  Peer& from = peers_[peer];
  from.taken += bytes == left ? RoundUp(bytes, kAlign) : bytes;
  ControlIn(from.base, rank_).taken.store(from.taken, std::memory_order_release);
  CountUnnotified(from, bytes);
}

void SharedMemoryTransport::CountUnnotified(Peer& peer, size_t bytes) {
  peer.unnotified += bytes;
  if (peer.unnotified < kRingBytes / 4) return;
  peer.unnotified = 0;
  Wake(peer.header);
}

void SharedMemoryTransport::NotifyPeers() {
  for (Peer& peer : peers_) {
    if (peer.unnotified == 0) continue;
    peer.unnotified = 0;
    Wake(peer.header);
  }
}

uint32_t SharedMemoryTransport::event_count() const {
  return HeaderOf(base_)->event_count.load();
}

void SharedMemoryTransport::Wake(MemoryHeader* header) {
  header->event_count.fetch_add(1);
  if (header->sleeping.load() != 0) syscall(SYS_futex, &header->event_count, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void SharedMemoryTransport::Sleep(uint32_t event_count, int milliseconds) {
  MemoryHeader* header = HeaderOf(base_);
  const timespec time{milliseconds / 1000, milliseconds % 1000 * 1000000L};
  header->sleeping.store(1);
  syscall(SYS_futex, &header->event_count, FUTEX_WAIT, event_count, &time, nullptr, 0);
  header->sleeping.store(0);
}

void SharedMemoryTransport::WakeSelf() {
  Wake(HeaderOf(base_));
}

void SharedMemoryTransport::Leave() {
  HeaderOf(base_)->left.store(1);
  WakeSelf();
}

void SharedMemoryTransport::Close(size_t peer) {
  ControlIn(base_, peer).closed.store(1);
  Wake(peers_[peer].header);
}

std::string SharedMemoryTransport::LossReason(size_t peer) const {
  const Peer& from = peers_[peer];
  pollfd ended{from.process, POLLIN, 0};
  const bool dead =
      from.process >= 0 ? poll(&ended, 1, 0) == 1 : kill(static_cast<pid_t>(from.pid), 0) != 0 && errno == ESRCH;
  if (dead) return "the process of rank " + std::to_string(peer) + " has ended";
  if (from.header->left.load() != 0) return "rank " + std::to_string(peer) + " has left the mesh";
  if (ControlIn(from.base, rank_).closed.load() != 0)
    return "rank " + std::to_string(peer) + " has lost another process";
  return {};
}
