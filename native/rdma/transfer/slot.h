/**
 * A slot of a grant table: the state of one grant, in memory that peers map. A slot has 512 bytes. Its owner writes it
 * from JavaScript (runtime/rdma/grant/grant-slot.ts has the same layout), except for the writer cells, which peers
 * take.
 *
 * A reader compares the head, the first 64 bytes, before and after it copies. If both times the head is the same as
 * when the grant was opened, the grant was valid throughout. The owner changes `word` first when it revokes a grant,
 * and last when it creates one.
 *
 * A write cannot be undone, so a writer takes a cell before it checks the head. Either the writer sees that the grant
 * is no longer valid, or the owner sees the taken cell and waits.
 */
#pragma once
#include <cstdint>

struct SlotHead {
  uint64_t nonce[2];
  /**
   * The number of times that the slot has been used in the upper half, and the state of the grant in the lower half.
   */
  uint64_t word;
  uint64_t rights;
  uint64_t address;
  uint64_t length;
  uint64_t memory;
  uint64_t offset;
};

struct WriterCell {
  /** The process that writes, or 0 if the cell is free. */
  uint64_t pid;
  /** The start time of that process, as in /proc/<pid>/stat, or 0 if it has only just taken the cell. */
  uint64_t started;
};

constexpr int kWriterCells = 28;

struct Slot {
  SlotHead head;
  WriterCell writers[kWriterCells];
};

static_assert(sizeof(SlotHead) == 64, "as in runtime/rdma/grant/grant-table.ts");
static_assert(sizeof(Slot) == 512, "as in runtime/rdma/grant/grant-table.ts");

/**
 * Returns whether the head in mapped memory equals the expected head now. No later read or write is moved before this
 * check, and no earlier one after it.
 */
bool IsHead(const Slot* slot, const SlotHead& expected);

/** A writer cell of a slot, held during a write and released by the destructor. */
class WriterClaim {
 public:
  /** @param started the start time of this process */
  WriterClaim(Slot* slot, uint64_t started) : slot_(slot), started_(started) {}
  WriterClaim(const WriterClaim&) = delete;
  WriterClaim& operator=(const WriterClaim&) = delete;
  ~WriterClaim();

  /** Takes a free cell. Returns false if all cells are taken; the caller tries again later. */
  bool Take();

 private:
  Slot* slot_;
  uint64_t started_;
  WriterCell* cell_ = nullptr;
};
