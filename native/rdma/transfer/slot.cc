#include "transfer/slot.h"

#include <unistd.h>

#include <atomic>

bool IsHead(const Slot* slot, const SlotHead& expected) {
  // Bytes that were copied before this call are read before the head is.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const auto now = reinterpret_cast<const uint64_t*>(&slot->head);
  const auto then = reinterpret_cast<const uint64_t*>(&expected);
  bool same = true;
  for (unsigned i = 0; i < sizeof(SlotHead) / sizeof(uint64_t); i++) {
    same &= __atomic_load_n(&now[i], __ATOMIC_SEQ_CST) == then[i];
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return same;
}

bool WriterClaim::Take() {
  const uint64_t pid = static_cast<uint64_t>(getpid());
  for (WriterCell& cell : slot_->writers) {
    uint64_t nobody = 0;
    if (__atomic_compare_exchange_n(&cell.pid, &nobody, pid, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
      __atomic_store_n(&cell.started, started_, __ATOMIC_SEQ_CST);
      cell_ = &cell;
      return true;
    }
  }
  return false;
}

WriterClaim::~WriterClaim() {
  if (cell_ == nullptr) return;
  __atomic_store_n(&cell_->started, uint64_t{0}, __ATOMIC_SEQ_CST);
  __atomic_store_n(&cell_->pid, uint64_t{0}, __ATOMIC_SEQ_CST);
}
