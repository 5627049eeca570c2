/**
 * A slot of a table of grants: what its owner says about one grant, in memory that its peers map. 512 bytes, written by the owner in
 * JavaScript (runtime/rdma/grant/grant-table.ts has the same layout), except for the cells, which writers take.
 *
 * Reads look at the first 64 bytes before and after they have copied: if both times they are what they were when the grant was
 * opened, then the grant was good all the time. The owner changes `word` first when it takes a grant back, and last when it gives one.
 *
 * Writes cannot be undone, so who writes takes a cell first and looks at the head then: either the writer sees that the grant is
 * no longer good, or the owner sees that somebody writes, and waits.
 */
#pragma once
#include <cstdint>

struct SlotHead {
  uint64_t nonce[2];
  /** How often the slot has been used, in the upper half; the state in the lower. */
  uint64_t word;
  uint64_t rights;
  uint64_t address;
  uint64_t length;
  uint64_t memory;
  uint64_t offset;
};

struct WriterCell {
  /** The process that writes; 0: nobody does. */
  uint64_t pid;
  /** When that process has started, as in /proc/<pid>/stat; 0: it has only just taken the cell. */
  uint64_t started;
};

constexpr int kWriterCells = 28;

struct Slot {
  SlotHead head;
  WriterCell writers[kWriterCells];
};

static_assert(sizeof(SlotHead) == 64, "as in runtime/rdma/grant/grant-table.ts");
static_assert(sizeof(Slot) == 512, "as in runtime/rdma/grant/grant-table.ts");

/** Whether the head in mapped memory is, now, what it is expected to be. Nothing that comes later is read or written before. */
bool IsHead(const Slot* slot, const SlotHead& expected);

/** A cell of a slot, held while this writes. */
class WriterClaim {
 public:
  /** @param started when this process has started */
  WriterClaim(Slot* slot, uint64_t started) : slot_(slot), started_(started) {}
  WriterClaim(const WriterClaim&) = delete;
  WriterClaim& operator=(const WriterClaim&) = delete;
  ~WriterClaim();

  /** @returns false when all cells are taken: try again */
  bool Take();

 private:
  Slot* slot_;
  uint64_t started_;
  WriterCell* cell_ = nullptr;
};
