#include "transfer/process_vm_transfer.h"

#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "transfer/transfer.h"

namespace {

iovec Range(uint64_t address, uint64_t length) {
  return {reinterpret_cast<void*>(address), length};
}

iovec Range(void* data, uint64_t length) {
  return {data, length};
}

class ProcessTransfer final : public Transfer {
 public:
  ProcessTransfer(TransferArguments arguments, pid_t pid, uint64_t slot)
      : Transfer(std::move(arguments)), pid_(pid), slot_(slot) {}

 protected:
  /**
   * A single call copies the head, the bytes and the head again, in this order: "Buffers are processed in array order",
   * as the manual page says. The process may have ended, and its pid and its addresses may have been reused; in that
   * case the heads differ. The manual page does not promise that processors with a weak memory order, such as Arm's,
   * keep the order within a call. Therefore the mapped head is compared once more, behind a fence.
   */
  int32_t Read(const Piece& piece) override {
    SlotHead before, after;
    std::vector<iovec> local, remote;
    local.reserve(piece.count + 2);
    remote.reserve(piece.count + 2);
    local.push_back(Range(&before, sizeof before));
    remote.push_back(Range(slot_, sizeof before));
    Add(piece, &local, &remote);
    local.push_back(Range(&after, sizeof after));
    remote.push_back(Range(slot_, sizeof after));
    const ssize_t wanted = static_cast<ssize_t>(piece.bytes + sizeof before + sizeof after);
    const ssize_t got = process_vm_readv(pid_, local.data(), local.size(), remote.data(), remote.size(), 0);
    if (got == wanted && Expected(before) && Expected(after) && IsHead(arguments().slot, arguments().head)) {
      return kDone;
    }
    const int number = errno;
    if (got >= 0) Wipe(piece);
    return got < 0 ? number : WhyNot();
  }

  /** The caller holds a writer cell. As long as the head is right, the owner waits until the cell is released. */
  int32_t Write(const Piece& piece) override {
    if (!IsHead(arguments().slot, arguments().head)) return kNotGranted;
    // The mapped slot outlives its owner, so this checks that the process with this pid is still the owner.
    const int32_t there = WhyNot();
    if (there != EFAULT) return there;
    std::vector<iovec> local, remote;
    Add(piece, &local, &remote);
    const ssize_t put = process_vm_writev(pid_, local.data(), local.size(), remote.data(), remote.size(), 0);
    if (put == static_cast<ssize_t>(piece.bytes)) return kDone;
    return put < 0 ? errno : WhyNot();
  }

 private:
  void Add(const Piece& piece, std::vector<iovec>* local, std::vector<iovec>* remote) const {
    for (size_t i = 0; i < piece.count; i++) {
      const Segment& segment = piece.segments[i];
      local->push_back(Range(arguments().local.data + segment.local, segment.length));
      remote->push_back(Range(arguments().head.address + segment.remote, segment.length));
    }
  }

  bool Expected(const SlotHead& head) const { return memcmp(&head, &arguments().head, sizeof head) == 0; }

  /**
   * Finds out why bytes could not be moved. Returns an errno if the process cannot be read, for example because it has
   * ended, kNotGranted if the grant is no longer valid, and EFAULT if the memory itself is gone.
   */
  int32_t WhyNot() const {
    SlotHead head;
    iovec local = Range(&head, sizeof head), remote = Range(slot_, sizeof head);
    const ssize_t got = process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    if (got < 0) return errno;
    return got == sizeof head && Expected(head) ? EFAULT : kNotGranted;
  }

  pid_t pid_;
  uint64_t slot_;
};

}  // namespace

Napi::Value ProcessTransferCall(const Napi::CallbackInfo& info) {
  auto given = TransferArguments::From(info);
  const auto pid = static_cast<pid_t>(CountOf(info, TransferArguments::kCount, "pid"));
  const uint64_t slot = AddressOf(info, TransferArguments::kCount + 1, "slotAddress");
  return Transfer::Begin(info, std::make_unique<ProcessTransfer>(std::move(given), pid, slot), 0);
}

Napi::Value ReadProcess(const Napi::CallbackInfo& info) {
  const auto pid = static_cast<pid_t>(CountOf(info, 0, "pid"));
  const uint64_t address = AddressOf(info, 1, "address");
  const Bytes bytes = BytesOf(info, 2, "local");
  iovec local = Range(bytes.data, bytes.length), remote = Range(address, bytes.length);
  const ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
  const int outcome = got < 0 ? errno : got == static_cast<ssize_t>(bytes.length) ? 0 : EFAULT;
  return Napi::Number::New(info.Env(), outcome);
}
