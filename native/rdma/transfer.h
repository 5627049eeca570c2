/**
 * Moving bytes between memory of this process and memory that another has granted: cut into pieces, between which it can be
 * cancelled, and which several threads share. How one piece moves is the subclass's.
 */
#pragma once
#include <napi.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "arguments.h"
#include "control.h"
#include "slot.h"
#include "work.h"

/** What a transfer comes to; above 0 it is an errno. runtime/rdma/addon.ts has the same numbers. */
enum Outcome : int32_t {
  kDone = 0,
  kCancelled = -1,
  /** The grant is not, or no longer, what it was when it was opened. */
  kNotGranted = -2,
  /** More writers at a time than a slot has cells for. */
  kBusy = -3,
};

/** Bytes that lie side by side, here and there. */
struct Stretch {
  /** From the beginning of what is granted. */
  uint64_t remote;
  /** From the beginning of the local view. */
  uint64_t local;
  uint64_t length;
};

/** What the calls of all transfers have in common; the arguments follow one another in this order. */
struct TransferArguments {
  static constexpr size_t kCount = 9;

  bool write;
  Bytes local;
  std::vector<Stretch> stretches;
  Slot* slot;
  SlotHead head;
  Control control;
  /** When this process has started, as in /proc/self/stat. */
  uint64_t started;
  /** Threads of the pool; 0: on the spot. */
  uint32_t lanes;
  /** So many bytes, or a piece more, the calling thread moves beside them before it goes on. */
  uint64_t helped;

  /** @throws Napi::Error when something does not fit, memory on either side included */
  static TransferArguments From(const Napi::CallbackInfo& info);
};

class Transfer : public Work {
 public:
  explicit Transfer(TransferArguments arguments);

  /** Starts it, or does it on the spot. @param memory index of one more argument to be kept alive; 0: none */
  static Napi::Value Begin(const Napi::CallbackInfo& info, std::unique_ptr<Transfer> transfer, size_t memory);

 protected:
  /** A few stretches: at most `kPiece` bytes and `kPieceStretches` of them. */
  struct Piece {
    const Stretch* stretches;
    size_t count;
    uint64_t bytes;
  };

  /** @returns an Outcome. Called by several threads at a time */
  virtual int32_t Read(const Piece& piece) = 0;
  virtual int32_t Write(const Piece& piece) = 0;
  /** What was read is not to be seen. */
  void Wipe(const Piece& piece) const;

  const TransferArguments& arguments() const { return arguments_; }
  void Run() override;
  int32_t result() const override { return outcome_; }

 private:
  void Cut();
  int32_t Claim(WriterClaim* claim) const;
  /** Those that no other thread has taken, until there are none left or so many bytes have been moved. */
  void MovePieces(uint64_t most);
  /** The calling thread's part, while the pool is being woken. */
  void Help();
  void End(int32_t outcome);

  TransferArguments arguments_;
  std::vector<Stretch> stretches_;
  std::vector<Piece> pieces_;
  std::atomic<size_t> next_{0};
  std::atomic<int32_t> outcome_{kDone};
};
