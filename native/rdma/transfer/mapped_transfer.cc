#include "transfer/mapped_transfer.h"

#include <cstring>
#include <memory>
#include <utility>

#include "transfer/transfer.h"

namespace {

class MappedTransfer final : public Transfer {
 public:
  MappedTransfer(TransferArguments arguments, uint8_t* memory) : Transfer(std::move(arguments)), memory_(memory) {}

 protected:
  int32_t Read(const Piece& piece) override {
    if (!IsHead(arguments().slot, arguments().head)) return kNotGranted;
    for (size_t i = 0; i < piece.count; i++) {
      const Segment& segment = piece.segments[i];
      memcpy(arguments().local.data + segment.local, memory_ + segment.remote, segment.length);
    }
    if (IsHead(arguments().slot, arguments().head)) return kDone;
    Wipe(piece);
    return kNotGranted;
  }

  /** The caller holds a writer cell. As long as the head is right, the owner waits until the cell is released. */
  int32_t Write(const Piece& piece) override {
    if (!IsHead(arguments().slot, arguments().head)) return kNotGranted;
    for (size_t i = 0; i < piece.count; i++) {
      const Segment& segment = piece.segments[i];
      memcpy(memory_ + segment.remote, arguments().local.data + segment.local, segment.length);
    }
    return kDone;
  }

 private:
  uint8_t* memory_;
};

}  // namespace

Napi::Value MappedTransferCall(const Napi::CallbackInfo& info) {
  auto given = TransferArguments::From(info);
  const Bytes memory = BytesOf(info, TransferArguments::kCount, "memory");
  if (memory.length < given.head.length)
    throw Napi::RangeError::New(info.Env(), "invalid memory: expected a view of the whole granted memory");
  return Transfer::Begin(info, std::make_unique<MappedTransfer>(std::move(given), memory.data),
                         TransferArguments::kCount);
}
