/**
 * Lines to processes of other machines, by Gloo over TCP. Messages between two processes are matched by the order in which they are sent
 * and received. Not encrypted, and nobody is asked who he is.
 */
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/** A message under way. When it ends before it has been waited for, its memory is not touched any more. */
class RemoteTransfer {
 public:
  virtual ~RemoteTransfer() = default;
  /** As long as it takes. @throws std::exception when the line is lost, or all are aborted */
  virtual void Wait() = 0;
  /** From any thread: it is not waited for any more. */
  virtual void Abort() = 0;
};

class RemoteLines {
 public:
  virtual ~RemoteLines() = default;
  /** Where each of the others reaches this process, by its rank. */
  virtual std::vector<std::string> addresses() const = 0;
  /** All processes connect to the others in the order of their ranks; waits 30 s at most. @throws std::exception */
  virtual void Connect(size_t peer, const std::string& address) = 0;
  virtual bool has(size_t peer) const = 0;
  virtual std::unique_ptr<RemoteTransfer> Send(size_t peer, const uint8_t* data, size_t bytes) = 0;
  virtual std::unique_ptr<RemoteTransfer> Receive(size_t peer, uint8_t* into, size_t bytes) = 0;
  /** That one is told that nothing comes any more. */
  virtual void Close(size_t peer) = 0;
  /** From any thread: whoever waits for a message does not any more, nor later. */
  virtual void Abort() = 0;
};

/** @param address of this machine that others reach, a name or a number. @throws std::runtime_error, also where the addon has no Gloo */
std::shared_ptr<RemoteLines> MakeRemoteLines(size_t rank, size_t ranks, const std::string& address);
