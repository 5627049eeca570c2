/**
 * How one process of a mesh reaches the others: by memory those of its machine, by the network all others. Messages are exchanged by
 * many at once: all that one sends to several, and receives from several, goes on at the same time, so that nobody waits in a circle.
 *
 * Used by the thread of a stream alone, but for `Interrupt`. Who fails in the middle of an exchange is out of step with all who took part: the
 * lines to them are closed, which tells them, and stay so.
 */
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "remote_lines.h"
#include "shared_lines.h"

/** A message to another process. */
struct Departure {
  size_t peer;
  const uint8_t* data;
  size_t bytes;
};

/** A message from another process. */
struct Arrival {
  size_t peer;
  uint8_t* into;
  size_t bytes;
};

class Lines {
 public:
  /** A part of the message of an arrival, by its index: at a multiple of 64 bytes. */
  using Consume = std::function<void(size_t index, size_t offset, const uint8_t* data, size_t bytes)>;

  /** @throws std::runtime_error */
  Lines(size_t rank, size_t ranks) : shared_(rank, ranks), rank_(rank), broken_(ranks) {}

  size_t rank() const { return rank_; }
  size_t ranks() const { return broken_.size(); }
  SharedEnd end() const { return shared_.end(); }
  /** For other machines. @throws std::runtime_error */
  std::vector<std::string> Listen(const std::string& address);
  /** @throws std::runtime_error */
  void Open(size_t peer, const SharedEnd& end) { shared_.Open(peer, end); }
  void Connect(size_t peer, const std::string& address);

  /** Whether all of them are on this machine. */
  bool shares(const std::vector<size_t>& peers) const;
  /** Both until everything is done. @throws std::runtime_error when another process is lost */
  void Exchange(const std::vector<Departure>& departures, const std::vector<Arrival>& arrivals);
  /** The same, where arrivals have one length and no place, and parts of them are consumed in their order: the first one's part is the first. */
  void Fold(const std::vector<Departure>& departures, const std::vector<Arrival>& arrivals, const Consume& consume);
  /** Asks whether something is done until it is. @throws std::runtime_error when one of those that it is done with is lost */
  using Wait = std::function<void(const std::function<bool()>& done)>;
  /**
   * Elements move by something else, which does not know who is lost. Done when all of them say that it is.
   * @param move does it; it can wait
   * @throws std::runtime_error when another process is lost; what `move` throws
   */
  void Beside(const std::vector<size_t>& members, const std::function<void(const Wait& wait)>& move);
  /** From any thread: nothing is exchanged any more. */
  void Interrupt();

 private:
  void Together(const std::vector<Departure>& departures, const std::vector<Arrival>& arrivals, const std::function<void()>& run);
  /** A message of the network, and who it is from or for. */
  using Underway = std::pair<size_t, std::unique_ptr<RemoteTransfer>>;

  void WaitFor(const std::vector<Underway>& transfers) const;
  void MoveBeside(const std::vector<Departure>& departures, const std::vector<Arrival>& arrivals, const std::function<void(const Wait& wait)>& move);
  void WaitBeside(const std::vector<Arrival>& arrivals, const class Listening& far, const std::function<bool()>& done) const;
  /** Where some are of other machines. */
  void FoldAll(const std::vector<Departure>& departures, const std::vector<Arrival>& arrivals, const Consume& consume);
  void ExchangeAll(const std::vector<Departure>& departures, const std::vector<Arrival>& arrivals);
  void RunShared(const std::vector<Departure>& departures, const std::vector<Arrival>& arrivals, const Consume* consume);
  std::string WhyStuck(const std::vector<Departure>& departures, const std::vector<size_t>& sent,
                       const std::vector<Arrival>& arrivals, const std::vector<size_t>& come) const;
  void CheckOpen(size_t peer) const;
  void Break(size_t peer, const std::string& why);

  SharedLines shared_;
  std::shared_ptr<RemoteLines> remote_;
  const size_t rank_;
  /** Why nothing can be exchanged with a process any more. */
  std::vector<std::string> broken_;
  std::atomic<bool> interrupted_{false};
};
