/**
 * A queue pair: this side's end of a connection between two devices. Calls go to the kernel, `Post` on most devices excepted; each may
 * come on any thread, while the device is open.
 */
#pragma once
#include <cstdint>
#include <mutex>

#include "verbs_library.h"

class VerbsPair {
 public:
  /** What the other side of a queue pair is. */
  struct Peer {
    uint8_t gid[16];
    uint32_t number;
    uint32_t first;
    uint32_t lid;
    uint32_t mtu;
    /** Reads that it answers at a time. */
    uint32_t reads;
  };

  /** How patient a queue pair is: 4.096 us times 2 to the `timeout`, `retries` times. */
  struct Patience {
    uint32_t timeout;
    uint32_t retries;
  };

  /** Of the device whose pair it is. */
  struct Local {
    uint8_t port;
    uint8_t gid_index;
    uint32_t mtu;
    /** Reads that are answered, and asked, at a time. */
    uint32_t reads_answered;
    uint32_t reads_asked;
  };

  /** It posts one piece of memory for each transfer, and is signalled of each. @param cq where all that it does completes */
  VerbsPair(const VerbsLibrary* library, verbs::Pd* pd, verbs::Cq* cq);
  VerbsPair(const VerbsPair&) = delete;
  VerbsPair& operator=(const VerbsPair&) = delete;

  /** Why there is none: an errno; 0 otherwise. */
  int failed() const { return failed_; }
  /** Its number on the wire; 0 after `Destroy`. */
  uint32_t Number();
  /** What follows returns 0 or an errno; ENOENT after `Destroy`. @param first the first packet's number of this side */
  int Connect(uint32_t first, const Local& local, const Peer& peer, const Patience& patience);
  /** What is under way completes, flushed; nothing can be posted any more. */
  int Fail();
  /** Nothing of it touches memory any more when it has returned. */
  int Destroy();
  int Post(verbs::SendWr* request);

 private:
  int Initialize(const Local& local);
  int Receive(const Local& local, const Peer& peer);
  int Send(uint32_t first, const Local& local, const Peer& peer, const Patience& patience);

  const VerbsLibrary* library_;
  std::mutex mutex_;
  verbs::Qp* qp_ = nullptr;
  int failed_ = 0;
};
