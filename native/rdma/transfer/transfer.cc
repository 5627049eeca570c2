#include "transfer/transfer.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace {

/**
 * The maximum size of a piece in bytes. A piece is moved by one thread and cannot be cancelled; it takes about 100 us,
 * and each thread of a shared transfer gets several pieces. Pieces of half this size are slower, because memcpy then
 * uses its method for short blocks.
 */
constexpr uint64_t kPiece = 1 << 20;
/** The kernel accepts 1,024 ranges per call; two of them are the head. */
constexpr size_t kPieceSegments = 1000;
/** The time between two attempts to take a writer cell, in microseconds. */
constexpr useconds_t kRetry = 50;

[[noreturn]] void ThrowInvalid(const Napi::CallbackInfo& info, const char* what) {
  throw Napi::RangeError::New(info.Env(), std::string("invalid transfer: ") + what);
}

bool IsWithin(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}

template <typename T>
T* AlignedView(const Napi::CallbackInfo& info, size_t index, const char* name, size_t bytes) {
  Bytes view = BytesOf(info, index, name);
  if (view.length < bytes || reinterpret_cast<uintptr_t>(view.data) % alignof(T) != 0) ThrowInvalid(info, name);
  return reinterpret_cast<T*>(view.data);
}

}  // namespace

TransferArguments TransferArguments::From(const Napi::CallbackInfo& info) {
  const Bytes runs = BytesOf(info, 2, "segments");
  if (runs.length % sizeof(Segment) != 0) ThrowInvalid(info, "each segment has three words");
  TransferArguments result{
      CountOf(info, 0, "direction") != 0,
      BytesOf(info, 1, "local"),
      std::vector<Segment>(runs.length / sizeof(Segment)),
      AlignedView<Slot>(info, 3, "slot", sizeof(Slot)),
      {},
      Control(AlignedView<int64_t>(info, 5, "control", 2 * sizeof(int64_t))),
      AddressOf(info, 6, "started"),
      static_cast<uint32_t>(std::min<uint64_t>(CountOf(info, 7, "lanes"), 4)),
      CountOf(info, 8, "helped"),
  };
  if (runs.length > 0) memcpy(result.segments.data(), runs.data, runs.length);
  const Bytes head = BytesOf(info, 4, "head");
  if (head.length != sizeof(SlotHead)) ThrowInvalid(info, "the head must have 64 bytes");
  memcpy(&result.head, head.data, sizeof(SlotHead));
  for (const Segment& segment : result.segments) {
    if (!IsWithin(segment.local, segment.length, result.local.length))
      ThrowInvalid(info, "a segment exceeds the local view");
    if (!IsWithin(segment.remote, segment.length, result.head.length))
      ThrowInvalid(info, "a segment exceeds the granted memory");
  }
  return result;
}

Transfer::Transfer(TransferArguments arguments) : arguments_(std::move(arguments)) {
  SplitIntoPieces();
}

/** Splits long segments, and then groups neighbouring segments into pieces that are as large as possible. */
void Transfer::SplitIntoPieces() {
  for (const Segment& whole : arguments_.segments) {
    for (uint64_t at = 0; at < whole.length; at += kPiece) {
      segments_.push_back({whole.remote + at, whole.local + at, std::min(kPiece, whole.length - at)});
    }
  }
  arguments_.segments.clear();
  for (const Segment& segment : segments_) {
    const bool fits =
        !pieces_.empty() && pieces_.back().bytes + segment.length <= kPiece && pieces_.back().count < kPieceSegments;
    if (!fits) pieces_.push_back({&segment, 0, 0});
    pieces_.back().count++;
    pieces_.back().bytes += segment.length;
  }
}

Napi::Value Transfer::Begin(const Napi::CallbackInfo& info, std::unique_ptr<Transfer> transfer, size_t memory) {
  Napi::Env env = info.Env();
  const TransferArguments& given = transfer->arguments_;
  if (given.lanes == 0) {
    transfer->Run();
    return Napi::Number::New(env, transfer->outcome_);
  }
  transfer->Hold(env, info[1].As<Napi::Object>(), given.local.data);
  transfer->Hold(env, info[3].As<Napi::Object>(), given.slot);
  transfer->Hold(env, info[5].As<Napi::Object>(), nullptr);
  if (memory > 0) transfer->Hold(env, info[memory].As<Napi::Object>(), BytesOf(info, memory, "memory").data);
  const uint32_t lanes = std::min<uint32_t>(given.lanes, std::max<size_t>(transfer->pieces_.size(), 1));
  // The work deletes itself on this thread, in a later turn of the event loop.
  Transfer* started = transfer.get();
  Napi::Value promise = Work::Start(env, std::move(transfer), lanes);
  started->MoveOnCallingThread();
  return promise;
}

void Transfer::Run() {
  constexpr uint64_t kAll = UINT64_MAX;
  if (!arguments_.write) return MovePieces(kAll);
  WriterClaim claim(arguments_.slot, arguments_.started);
  const int32_t outcome = Claim(&claim);
  if (outcome == kDone)
    MovePieces(kAll);
  else
    SetOutcome(outcome);
}

void Transfer::MoveOnCallingThread() {
  if (arguments_.helped == 0) return;
  if (!arguments_.write) return MovePieces(arguments_.helped);
  WriterClaim claim(arguments_.slot, arguments_.started);
  // If all cells are taken, the thread pool waits for one. The event loop must not wait.
  if (claim.Take()) MovePieces(arguments_.helped);
}

int32_t Transfer::Claim(WriterClaim* claim) const {
  while (!claim->Take()) {
    if (arguments_.lanes == 0) return kBusy;
    if (arguments_.control.cancelled() || ending()) return kCancelled;
    if (!IsHead(arguments_.slot, arguments_.head)) return kNotGranted;
    usleep(kRetry);
  }
  return kDone;
}

void Transfer::MovePieces(uint64_t most) {
  // Checked even if there is nothing to move, so that a transfer on a revoked grant is always refused.
  if (!IsHead(arguments_.slot, arguments_.head)) return SetOutcome(kNotGranted);
  uint64_t moved = 0;
  while (outcome_ == kDone && moved < most) {
    const size_t index = next_++;
    if (index >= pieces_.size()) return;
    if (arguments_.control.cancelled() || (arguments_.lanes > 0 && ending())) return SetOutcome(kCancelled);
    const Piece& piece = pieces_[index];
    const int32_t outcome = arguments_.write ? Write(piece) : Read(piece);
    if (outcome != kDone) return SetOutcome(outcome);
    arguments_.control.Count(piece.bytes);
    moved += piece.bytes;
  }
}

void Transfer::SetOutcome(int32_t outcome) {
  int32_t none = kDone;
  outcome_.compare_exchange_strong(none, outcome);
}

void Transfer::Wipe(const Piece& piece) const {
  for (size_t i = 0; i < piece.count; i++) {
    memset(arguments_.local.data + piece.segments[i].local, 0, piece.segments[i].length);
  }
}
