/**
 * Exchanges messages between the processes of a mesh: through shared memory within a machine, and through the network
 * between machines. All messages of an exchange are sent and received concurrently, so that cyclic exchanges cannot
 * deadlock.
 *
 * Only the thread of a stream uses a communicator; `Interrupt` can be called from any thread. If an exchange fails, its
 * peers may be at different points of their messages. The connections to all peers of that exchange are therefore
 * closed, and remain closed.
 */
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collectives/remote.h"
#include "collectives/shared_memory.h"

/** A message to another process. */
struct Send {
  size_t peer;
  const uint8_t* data;
  size_t bytes;
};

/** A message from another process. */
struct Receive {
  size_t peer;
  uint8_t* into;
  size_t bytes;
};

class Communicator {
 public:
  /** Receives a piece of the message of `receives[index]`. `offset` is a multiple of 64 bytes. */
  using Consume = std::function<void(size_t index, size_t offset, const uint8_t* data, size_t bytes)>;

  /** @throws std::runtime_error if the shared memory cannot be created */
  Communicator(size_t rank, size_t ranks) : shared_(rank, ranks), rank_(rank), failures_(ranks) {}

  size_t rank() const { return rank_; }
  size_t ranks() const { return failures_.size(); }
  SharedMemoryAddress shared_address() const { return shared_.address(); }
  /**
   * Listens for other machines.
   * @returns for each rank the address at which that rank reaches this process
   * @throws std::runtime_error
   */
  std::vector<std::string> Listen(const std::string& address);
  /**
   * Connects to a process of this machine.
   * @throws std::runtime_error
   */
  void ConnectShared(size_t peer, const SharedMemoryAddress& address) { shared_.Open(peer, address); }
  void ConnectRemote(size_t peer, const std::string& address);

  /** Returns whether all peers are on this machine. */
  bool AllShareMemory(const std::vector<size_t>& peers) const;
  /**
   * Sends and receives all messages. Blocks until all are complete.
   * @throws std::runtime_error if a peer is lost
   */
  void Exchange(const std::vector<Send>& sends, const std::vector<Receive>& receives);
  /**
   * Works like `Exchange`, but passes the received messages to `consume` in pieces instead of storing them. All
   * received messages have the same size. The pieces at one offset are passed in the order of `receives`.
   * @throws std::runtime_error if a peer is lost
   */
  void ExchangeInPieces(const std::vector<Send>& sends, const std::vector<Receive>& receives, const Consume& consume);
  /**
   * Polls `done` until it returns true.
   * @throws std::runtime_error if a peer is lost
   */
  using Wait = std::function<void(const std::function<bool()>& done)>;
  /**
   * Runs an operation of another library that cannot detect the loss of a peer, and monitors the peers meanwhile.
   * Returns after all members have completed the operation.
   * @param move runs the operation, and polls through `wait`
   * @throws std::runtime_error if a peer is lost; the exceptions of `move`
   */
  void RunMonitored(const std::vector<size_t>& members, const std::function<void(const Wait& wait)>& move);
  /** Aborts the pending exchange and all later ones. Can be called from any thread. */
  void Interrupt();

 private:
  void RunExchange(const std::vector<Send>& sends, const std::vector<Receive>& receives,
                   const std::function<void()>& run);
  /** A pending network message with the rank of its peer. */
  using PendingMessage = std::pair<size_t, std::unique_ptr<RemoteTransfer>>;

  void WaitFor(const std::vector<PendingMessage>& transfers) const;
  void MonitorPeers(const std::vector<Send>& sends, const std::vector<Receive>& receives,
                    const std::function<void(const Wait& wait)>& move);
  void WaitMonitored(const std::vector<Receive>& receives, const class RemoteWaiter& remote,
                     const std::function<bool()>& done) const;
  /** Implements `ExchangeInPieces` if some peers are on other machines. */
  void ExchangeInPiecesMixed(const std::vector<Send>& sends, const std::vector<Receive>& receives,
                             const Consume& consume);
  void ExchangeMixed(const std::vector<Send>& sends, const std::vector<Receive>& receives);
  void ExchangeShared(const std::vector<Send>& sends, const std::vector<Receive>& receives, const Consume* consume);
  std::string StallReason(const std::vector<Send>& sends, const std::vector<size_t>& sent,
                          const std::vector<Receive>& receives, const std::vector<size_t>& received) const;
  void CheckConnected(size_t peer) const;
  void Disconnect(size_t peer, const std::string& why);

  SharedMemoryTransport shared_;
  std::shared_ptr<RemoteTransport> remote_;
  const size_t rank_;
  /** For each rank the reason why its connection is closed. Empty while the connection is open. */
  std::vector<std::string> failures_;
  std::atomic<bool> interrupted_{false};
};
