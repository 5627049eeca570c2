/**
 * A transfer of bytes between memory of this process and memory that another process has granted. The transfer is cut
 * into pieces; it can be cancelled between pieces, and several threads can share them. Subclasses move one piece.
 */
#pragma once
#include <napi.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "node/arguments.h"
#include "node/work.h"
#include "transfer/control.h"
#include "transfer/slot.h"

/** The result of a transfer. Values above 0 are errnos. runtime/native/rdma-addon.ts has the same numbers. */
enum Outcome : int32_t {
  kDone = 0,
  kCancelled = -1,
  /** The grant is not, or no longer, the one that was opened. */
  kNotGranted = -2,
  /** More processes write at the same time than a slot has writer cells. */
  kBusy = -3,
};

/** A segment: bytes that are contiguous on both sides of a transfer. */
struct Segment {
  /** Offset from the beginning of the granted memory, in bytes. */
  uint64_t remote;
  /** Offset from the beginning of the local view, in bytes. */
  uint64_t local;
  uint64_t length;
};

/** The arguments that the calls of all transfers have in common, in the order in which JavaScript passes them. */
struct TransferArguments {
  static constexpr size_t kCount = 9;

  bool write;
  Bytes local;
  std::vector<Segment> segments;
  Slot* slot;
  SlotHead head;
  Control control;
  /** The start time of this process, as in /proc/self/stat. */
  uint64_t started;
  /** The number of threads of the pool, at most 4; 0 if the transfer is synchronous. */
  uint32_t lanes;
  /** The calling thread moves at least this many bytes, rounded up to whole pieces, while the pool starts. */
  uint64_t helped;

  /** @throws Napi::Error if an argument is invalid, or if a segment exceeds the memory on either side */
  static TransferArguments From(const Napi::CallbackInfo& info);
};

class Transfer : public Work {
 public:
  explicit Transfer(TransferArguments arguments);

  /**
   * Runs a synchronous transfer, or starts an asynchronous one. @param memory index of a further argument that must be
   * kept alive, or 0
   */
  static Napi::Value Begin(const Napi::CallbackInfo& info, std::unique_ptr<Transfer> transfer, size_t memory);

 protected:
  /** A group of segments: at most `kPieceStretches` segments with at most `kPiece` bytes together. */
  struct Piece {
    const Segment* segments;
    size_t count;
    uint64_t bytes;
  };

  /** Moves one piece. Several threads call this at the same time. @returns an Outcome */
  virtual int32_t Read(const Piece& piece) = 0;
  virtual int32_t Write(const Piece& piece) = 0;
  /** Zeroes the local memory of a piece whose bytes must not be seen. */
  void Wipe(const Piece& piece) const;

  const TransferArguments& arguments() const { return arguments_; }
  void Run() override;
  int32_t result() const override { return outcome_; }

 private:
  void SplitIntoPieces();
  int32_t Claim(WriterClaim* claim) const;
  /** Moves pieces that no other thread has taken, until none are left or at least `most` bytes have been moved. */
  void MovePieces(uint64_t most);
  /** Moves the calling thread's part while the threads of the pool wake up. */
  void MoveOnCallingThread();
  void SetOutcome(int32_t outcome);

  TransferArguments arguments_;
  std::vector<Segment> segments_;
  std::vector<Piece> pieces_;
  std::atomic<size_t> next_{0};
  std::atomic<int32_t> outcome_{kDone};
};
