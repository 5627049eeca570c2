/**
 * A queue pair: this side's end of a connection between two RDMA devices. All calls enter the kernel, except `Post` on
 * most devices. Each call may come from any thread while the device is open.
 */
#pragma once
#include <cstdint>
#include <mutex>

#include "verbs/library.h"

class QueuePair {
 public:
  /** The remote side of a queue pair. */
  struct Peer {
    uint8_t gid[16];
    uint32_t number;
    uint32_t first;
    uint32_t lid;
    uint32_t mtu;
    /** The number of concurrent reads that the peer answers. */
    uint32_t reads;
  };

  /**
   * The retransmission policy: the device waits 4.096 us * 2^`timeout` for an acknowledgement, and retransmits up to
   * `retries` times.
   */
  struct RetryPolicy {
    uint32_t timeout;
    uint32_t retries;
  };

  /** The properties of the local device. */
  struct Local {
    uint8_t port;
    uint8_t gid_index;
    uint32_t mtu;
    /** The maximum number of concurrent reads that this device answers and requests. */
    uint32_t reads_answered;
    uint32_t reads_asked;
  };

  /**
   * Each transfer has one contiguous range of local memory and reports its completion. @param cq the completion queue
   * for all transfers of this pair
   */
  QueuePair(const VerbsLibrary* library, verbs::Pd* pd, verbs::Cq* cq);
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  /** The errno of the failed creation, or 0. */
  int failed() const { return failed_; }
  /** Returns the pair's number on the wire, or 0 after `Destroy`. */
  uint32_t Number();
  /**
   * The following calls return 0 or an errno, which is ENOENT after `Destroy`. @param first the first packet sequence
   * number of this side
   */
  int Connect(uint32_t first, const Local& local, const Peer& peer, const RetryPolicy& retry);
  /** Completes the pending transfers with a flush error. No further transfer can be posted. */
  int Fail();
  /** The queue pair touches no memory after this call has returned. */
  int Destroy();
  int Post(verbs::SendWr* request);

 private:
  int Initialize(const Local& local);
  int Receive(const Local& local, const Peer& peer);
  int Send(uint32_t first, const Local& local, const Peer& peer, const RetryPolicy& retry);

  const VerbsLibrary* library_;
  std::mutex mutex_;
  verbs::Qp* qp_ = nullptr;
  int failed_ = 0;
};
