/**
 * A transport between the processes of a mesh that are on one machine: one ring of bytes for each ordered pair of
 * processes, in shared memory. Each process creates the memory for all messages that it sends. The other processes open
 * the memory by its descriptor number and check it. communicator.h decides when a process sends, receives and sleeps.
 *
 * The content of the memory is not trusted. Invalid positions are an error, and never lead to an access outside of a
 * ring.
 */
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct MemoryHeader;
struct RingControl;

/** The data with which another process opens the memory. */
struct SharedMemoryAddress {
  static constexpr size_t kTokenBytes = 16;
  uint64_t pid = 0;
  uint64_t memory = 0;
  std::string token;
};

class SharedMemoryTransport {
 public:
  /**
   * The maximum number of bytes that one step copies. All pieces of a message, except the last one, are multiples of
   * `kAlign`.
   */
  static constexpr size_t kPiece = 64 << 10;
  static constexpr size_t kAlign = 64;

  /**
   * Creates the memory for `ranks` processes.
   * @throws std::runtime_error
   */
  SharedMemoryTransport(size_t rank, size_t ranks);
  /** Calls `Leave`. */
  ~SharedMemoryTransport();
  SharedMemoryTransport(const SharedMemoryTransport&) = delete;
  SharedMemoryTransport& operator=(const SharedMemoryTransport&) = delete;

  SharedMemoryAddress address() const;
  /**
   * Maps the memory of a peer.
   * @throws std::runtime_error if the memory is not the memory that was offered
   */
  void Open(size_t peer, const SharedMemoryAddress& address);
  bool IsConnected(size_t peer) const { return peers_[peer].header != nullptr; }

  /**
   * Copies as many bytes as the ring has room for.
   * @returns the number of bytes; 0 if the ring is full
   */
  size_t TryWrite(size_t peer, const uint8_t* data, size_t left);
  /**
   * Finds received bytes of a message with `left` remaining bytes.
   * @param most the maximum number of bytes
   * @returns the number of bytes at `data`; 0 if there are none
   */
  size_t Peek(size_t peer, size_t left, size_t most, const uint8_t*& data) const;
  /** Frees bytes that `Peek` has returned, so that the peer can overwrite them. */
  void Release(size_t peer, size_t bytes, size_t left);

  /**
   * Wakes all peers that have not been notified of bytes that were written or released. Called before this process
   * waits, and after an exchange.
   */
  void NotifyPeers();
  /** Returns a counter that changes with every notification from a peer. */
  uint32_t event_count() const;
  /** Blocks until the counter differs from `event_count`, but for at most `milliseconds`. */
  void Sleep(uint32_t event_count, int milliseconds);
  /** Wakes this process if it sleeps. Can be called from any thread. */
  void WakeSelf();
  /**
   * Marks this process as having left the mesh. Peers detect that when they next wait. Can be called from any thread.
   */
  void Leave();
  /** Marks the ring to a peer as closed. */
  void Close(size_t peer);
  /** Returns the reason why no more bytes arrive from a peer, or an empty text while the peer is alive. */
  std::string LossReason(size_t peer) const;

 private:
  struct Peer {
    void* base = nullptr;
    MemoryHeader* header = nullptr;
    /** A pidfd, which becomes readable when the process ends, or -1 if the system has no pidfds. */
    int process = -1;
    uint64_t pid = 0;
    /** The numbers of bytes that this process has sent to the peer, and received from it. */
    uint64_t sent = 0;
    uint64_t taken = 0;
    /** The number of bytes that were sent or received since the last notification. */
    uint64_t unnotified = 0;
  };

  static MemoryHeader* HeaderOf(void* base);
  RingControl& ControlIn(void* base, size_t peer) const;
  uint8_t* RingIn(void* base, size_t peer) const;
  size_t bytes() const;
  static void Wake(MemoryHeader* header);
  /** Notifies the peer after a quarter of a ring. A notification for each piece would take longer than copying it. */
  static void CountUnnotified(Peer& peer, size_t bytes);

  const size_t rank_;
  const size_t ranks_;
  int memory_ = -1;
  void* base_ = nullptr;
  std::vector<Peer> peers_;
};
