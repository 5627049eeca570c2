/**
 * A transport to processes of other machines, implemented with Gloo over TCP. Messages between two processes are
 * matched by their order. The connections are neither encrypted nor authenticated.
 */
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/** A pending message. After its destruction, its memory is no longer accessed. */
class RemoteTransfer {
 public:
  virtual ~RemoteTransfer() = default;
  /**
   * Blocks until the message is complete.
   * @throws std::exception if the connection is lost or the transfer is aborted
   */
  virtual void Wait() = 0;
  /** Ends `Wait`. Can be called from any thread. */
  virtual void Abort() = 0;
};

class RemoteTransport {
 public:
  virtual ~RemoteTransport() = default;
  /** Returns for each rank the address at which that rank reaches this process. */
  virtual std::vector<std::string> addresses() const = 0;
  /**
   * Connects to a peer. All processes connect to their peers in the order of the ranks. Blocks for at most 30 s.
   * @throws std::exception
   */
  virtual void Connect(size_t peer, const std::string& address) = 0;
  virtual bool IsConnected(size_t peer) const = 0;
  virtual std::unique_ptr<RemoteTransfer> Send(size_t peer, const uint8_t* data, size_t bytes) = 0;
  virtual std::unique_ptr<RemoteTransfer> Receive(size_t peer, uint8_t* into, size_t bytes) = 0;
  /** Closes the connection to a peer, which detects it. */
  virtual void Close(size_t peer) = 0;
  /** Aborts all pending and later transfers. Can be called from any thread. */
  virtual void Abort() = 0;
};

/**
 * @param address a host name or an IP address of this machine that other machines can reach
 * @throws std::runtime_error, also if the addon was built without Gloo
 */
std::shared_ptr<RemoteTransport> MakeRemoteTransport(size_t rank, size_t ranks, const std::string& address);
