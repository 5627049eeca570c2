#include "shared_lines.h"

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

/** The first page. Behind it stand the controls of all lines, and then their rings. */
struct LinesHead {
  uint8_t token[SharedEnd::kTokenBytes];
  alignas(64) std::atomic<uint32_t> bell;
  std::atomic<uint32_t> asleep;
  std::atomic<uint32_t> left;
};

/** Of the line to one process. Cursors count bytes, and never start again. */
struct LineControl {
  alignas(64) std::atomic<uint64_t> sent;
  /** Nothing comes any more. */
  std::atomic<uint32_t> closed;
  /** Written by the other process. */
  alignas(64) std::atomic<uint64_t> taken;
};

namespace {

constexpr size_t kLinePage = 4096;
/** Small enough for the caches of a processor to hold it until the other one has read it. */
constexpr size_t kLineRing = 1 << 20;
constexpr int kLineSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

constexpr size_t RoundUp(size_t bytes, size_t to) {
  return (bytes + to - 1) / to * to;
}

[[noreturn]] void Refuse(const std::string& what, int number) {
  throw std::runtime_error("cannot " + what + ": " + std::generic_category().message(number));
}

/** A file of another process of this user, and of the kind that is expected: to open anything else could do something. */
int OpenMemoryOf(uint64_t pid, uint64_t memory) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(memory);
  const std::string what = "open the memory of process " + std::to_string(pid);
  const int found = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (found < 0) Refuse(what, errno);
  struct stat status;
  const bool fits = fstat(found, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
  const std::string self = "/proc/self/fd/" + std::to_string(found);
  const int opened = fits ? open(self.c_str(), O_RDWR | O_CLOEXEC) : -1;
  const int number = fits ? errno : EPERM;
  close(found);
  if (opened < 0) Refuse(what, number);
  return opened;
}

}  // namespace

LinesHead* SharedLines::HeadOf(void* base) {
  return static_cast<LinesHead*>(base);
}

LineControl& SharedLines::ControlIn(void* base, size_t peer) const {
  return reinterpret_cast<LineControl*>(static_cast<uint8_t*>(base) + kLinePage)[peer];
}

uint8_t* SharedLines::RingIn(void* base, size_t peer) const {
  return static_cast<uint8_t*>(base) + kLinePage + RoundUp(ranks_ * sizeof(LineControl), kLinePage) + peer * kLineRing;
}

size_t SharedLines::bytes() const {
  return kLinePage + RoundUp(ranks_ * sizeof(LineControl), kLinePage) + ranks_ * kLineRing;
}

SharedLines::SharedLines(size_t rank, size_t ranks) : rank_(rank), ranks_(ranks), peers_(ranks) {
  memory_ = memfd_create("viceroy-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory_ < 0) Refuse("make memory for other processes", errno);
  // Pages that nothing is written to take no memory.
  void* base = MAP_FAILED;
  if (ftruncate(memory_, static_cast<off_t>(bytes())) == 0 && fcntl(memory_, F_ADD_SEALS, kLineSeals) == 0) {
    base = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
  }
  const int number = errno;
  const bool made = base != MAP_FAILED &&
                    getrandom(HeadOf(base)->token, SharedEnd::kTokenBytes, 0) == static_cast<ssize_t>(SharedEnd::kTokenBytes);
  if (!made) {
    if (base != MAP_FAILED) munmap(base, bytes());
    close(memory_);
    Refuse("make " + std::to_string(bytes()) + " bytes of memory for other processes", number);
  }
  base_ = base;
}

SharedLines::~SharedLines() {
  Leave();
  for (const Peer& peer : peers_) {
    if (peer.base != nullptr) munmap(peer.base, bytes());
    if (peer.process >= 0) close(peer.process);
  }
  munmap(base_, bytes());
  close(memory_);
}

SharedEnd SharedLines::end() const {
  return {static_cast<uint64_t>(getpid()), static_cast<uint64_t>(memory_),
          std::string(reinterpret_cast<const char*>(HeadOf(base_)->token), SharedEnd::kTokenBytes)};
}

void SharedLines::Open(size_t peer, const SharedEnd& end) {
  Peer& opened = peers_.at(peer);
  if (opened.head != nullptr || peer == rank_) throw std::runtime_error("there is a line to rank " + std::to_string(peer) + " already");
  const int memory = OpenMemoryOf(end.pid, end.memory);
  // Memory that can shrink ends whoever reads beyond its end.
  const int seals = fcntl(memory, F_GET_SEALS);
  struct stat status;
  const bool fits = seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(memory, &status) == 0 &&
                    static_cast<uint64_t>(status.st_size) == bytes();
  void* base = fits ? mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0) : MAP_FAILED;
  close(memory);
  if (base == MAP_FAILED) Refuse("use the memory of process " + std::to_string(end.pid), fits ? errno : EPERM);
  if (std::string(reinterpret_cast<const char*>(HeadOf(base)->token), SharedEnd::kTokenBytes) != end.token) {
    munmap(base, bytes());
    throw std::runtime_error("the memory of process " + std::to_string(end.pid) + " is another's");
  }
  opened.base = base;
  opened.head = HeadOf(base);
  opened.pid = end.pid;
#ifdef SYS_pidfd_open
  opened.process = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(end.pid), 0));
#endif
}

size_t SharedLines::Push(size_t peer, const uint8_t* data, size_t left) {
  Peer& to = peers_[peer];
  LineControl& control = ControlIn(base_, peer);
  const uint64_t used = to.sent - control.taken.load(std::memory_order_acquire);
  if (used > kLineRing || used % kAlign != 0) throw std::runtime_error("rank " + std::to_string(peer) + " took what was not sent");
  const size_t at = to.sent % kLineRing;
  const size_t piece = std::min({left, static_cast<size_t>(kLineRing - used), kLineRing - at, kPiece});
  if (piece == 0) return 0;
  std::memcpy(RingIn(base_, peer) + at, data, piece);
  to.sent += RoundUp(piece, kAlign);
  control.sent.store(to.sent, std::memory_order_release);
  Changed(to, piece);
  return piece;
}

size_t SharedLines::Peek(size_t peer, size_t left, size_t most, const uint8_t*& data) const {
  const Peer& from = peers_[peer];
  const uint64_t come = ControlIn(from.base, rank_).sent.load(std::memory_order_acquire) - from.taken;
  if (come > kLineRing || come % kAlign != 0) throw std::runtime_error("rank " + std::to_string(peer) + " sent more than there is room for");
  const size_t at = from.taken % kLineRing;
  data = RingIn(from.base, rank_) + at;
  return std::min({left, most, static_cast<size_t>(come), kLineRing - at});
}

void SharedLines::Take(size_t peer, size_t bytes, size_t left) {
  Peer& from = peers_[peer];
  from.taken += bytes == left ? RoundUp(bytes, kAlign) : bytes;
  ControlIn(from.base, rank_).taken.store(from.taken, std::memory_order_release);
  Changed(from, bytes);
}

void SharedLines::Changed(Peer& peer, size_t bytes) {
  peer.untold += bytes;
  if (peer.untold < kLineRing / 4) return;
  peer.untold = 0;
  Ring(peer.head);
}

void SharedLines::Tell() {
  for (Peer& peer : peers_) {
    if (peer.untold == 0) continue;
    peer.untold = 0;
    Ring(peer.head);
  }
}

uint32_t SharedLines::bell() const {
  return HeadOf(base_)->bell.load();
}

void SharedLines::Ring(LinesHead* head) {
  head->bell.fetch_add(1);
  if (head->asleep.load() != 0) syscall(SYS_futex, &head->bell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void SharedLines::Sleep(uint32_t bell, int milliseconds) {
  LinesHead* head = HeadOf(base_);
  const timespec time{milliseconds / 1000, milliseconds % 1000 * 1000000L};
  head->asleep.store(1);
  syscall(SYS_futex, &head->bell, FUTEX_WAIT, bell, &time, nullptr, 0);
  head->asleep.store(0);
}

void SharedLines::WakeSelf() {
  Ring(HeadOf(base_));
}

void SharedLines::Leave() {
  HeadOf(base_)->left.store(1);
  WakeSelf();
}

void SharedLines::Close(size_t peer) {
  ControlIn(base_, peer).closed.store(1);
  Ring(peers_[peer].head);
}

std::string SharedLines::WhyGone(size_t peer) const {
  const Peer& from = peers_[peer];
  pollfd ended{from.process, POLLIN, 0};
  const bool dead = from.process >= 0 ? poll(&ended, 1, 0) == 1 : kill(static_cast<pid_t>(from.pid), 0) != 0 && errno == ESRCH;
  if (dead) return "the process of rank " + std::to_string(peer) + " has ended";
  if (from.head->left.load() != 0) return "rank " + std::to_string(peer) + " has left the mesh";
  if (ControlIn(from.base, rank_).closed.load() != 0) return "rank " + std::to_string(peer) + " has lost another process";
  return {};
}
