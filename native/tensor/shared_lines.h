/**
 * Lines between the processes of a mesh that are on one machine: for each ordered pair a ring of bytes in memory that both have mapped. A
 * process makes the memory that holds what it sends to all others; they open it by its number and check it. How lines are waited
 * for, and what is sent, is not known here.
 *
 * What the memory says is not trusted: cursors that make no sense are an error, and never lead out of a ring.
 */
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct LinesHead;
struct LineControl;

/** What another process needs to open the memory of one. */
struct SharedEnd {
  static constexpr size_t kTokenBytes = 16;
  uint64_t pid = 0;
  uint64_t memory = 0;
  std::string token;
};

class SharedLines {
 public:
  /** What one step copies at most; pieces but the last one of a message are multiples of `kAlign`. */
  static constexpr size_t kPiece = 64 << 10;
  static constexpr size_t kAlign = 64;

  /** Makes the memory, for as many processes. @throws std::runtime_error */
  SharedLines(size_t rank, size_t ranks);
  /** Leaves. */
  ~SharedLines();
  SharedLines(const SharedLines&) = delete;
  SharedLines& operator=(const SharedLines&) = delete;

  SharedEnd end() const;
  /** @throws std::runtime_error if the memory is not what was announced */
  void Open(size_t peer, const SharedEnd& end);
  bool has(size_t peer) const { return peers_[peer].head != nullptr; }

  /** Copies what has room. @returns how many bytes, 0 while there is no room */
  size_t Push(size_t peer, const uint8_t* data, size_t left);
  /** What has come, at most `most` bytes of a message that has `left` more. @returns its length; 0: nothing yet */
  size_t Peek(size_t peer, size_t left, size_t most, const uint8_t*& data) const;
  /** What was peeked at may be overwritten. */
  void Take(size_t peer, size_t bytes, size_t left);

  /** Wakes those that sleep and do not know yet of all that was pushed and taken: before this process waits, and when it is done. */
  void Tell();
  /** Changes whenever something may have changed for this process. */
  uint32_t bell() const;
  /** Until the bell is another one, or for `milliseconds`. */
  void Sleep(uint32_t bell, int milliseconds);
  /** From any thread: whoever sleeps here wakes. */
  void WakeSelf();
  /** From any thread: this process takes part in nothing any more. Others see it when they wait next. */
  void Leave();
  /** This process sends nothing more to that one. */
  void Close(size_t peer);
  /** Why nothing comes from a process any more; empty if it may. */
  std::string WhyGone(size_t peer) const;

 private:
  struct Peer {
    void* base = nullptr;
    LinesHead* head = nullptr;
    /** Becomes readable when the process ends; -1 where the system has no such descriptors. */
    int process = -1;
    uint64_t pid = 0;
    /** What this process has sent there, and taken from there; bytes. */
    uint64_t sent = 0;
    uint64_t taken = 0;
    /** Of both, what it has not been woken for. */
    uint64_t untold = 0;
  };

  static LinesHead* HeadOf(void* base);
  LineControl& ControlIn(void* base, size_t peer) const;
  uint8_t* RingIn(void* base, size_t peer) const;
  size_t bytes() const;
  static void Ring(LinesHead* head);
  /** Not for each piece: to be woken takes longer than to copy one. */
  static void Changed(Peer& peer, size_t bytes);

  const size_t rank_;
  const size_t ranks_;
  int memory_ = -1;
  void* base_ = nullptr;
  std::vector<Peer> peers_;
};
