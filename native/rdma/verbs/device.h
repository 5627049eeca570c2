/**
 * An open RDMA device: its memory registrations, its queue pairs, and the one completion queue that they share. This
 * class knows nothing of JavaScript. `Post` and `Poll` are called on the thread of the event loop and never block. All
 * other calls enter the kernel and run on threads of the pool.
 */
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "node/shared_mutex.h"
#include "verbs/library.h"
#include "verbs/queue_pair.h"

class VerbsDevice {
 public:
  struct Transfer {
    uint32_t tag;
    bool write;
    /** Offset in the registered region, in bytes. */
    uint64_t offset;
    uint32_t length;
    uint64_t remote;
    uint32_t key;
  };

  VerbsDevice(const VerbsLibrary* library, std::string name, uint32_t port, uint32_t gid_index);
  VerbsDevice(const VerbsDevice&) = delete;
  VerbsDevice& operator=(const VerbsDevice&) = delete;
  ~VerbsDevice() { Close(); }

  /**
   * The following calls return 0 or an errno, unless their comments say otherwise. They return ESHUTDOWN if the device
   * is not open.
   */
  int Open();
  /**
   * Waits until the calls of other threads have ended, destroys all queue pairs and removes all registrations. The
   * device touches no memory after this call has returned.
   */
  void Close();

  /** @returns the id of the registration, above 0, or a negative errno */
  int32_t Register(void* data, size_t length, int access);
  int Deregister(int32_t id);
  /** Returns the remote key of a registration, or 0 if it doesn't exist. */
  uint32_t KeyOf(int32_t id);

  /** @returns the id of a new queue pair, above 0, or a negative errno */
  int32_t CreatePair();
  /** Returns the number of a queue pair on the wire, or 0 if the pair doesn't exist. */
  uint32_t NumberOf(int32_t id);
  /** @param first the first packet sequence number of this side */
  int Connect(int32_t id, uint32_t first, const QueuePair::Peer& peer, const QueuePair::RetryPolicy& retry);
  /** Completes the pending transfers with a flush error. No further transfer can be posted. */
  int Fail(int32_t id);
  /** The queue pair touches no memory after this call has returned. */
  int Destroy(int32_t id);

  /** Posts one transfer. @param region the registered memory; EINVAL if the transfer exceeds its bounds */
  int Post(int32_t pair, int32_t region, const Transfer& transfer);
  /**
   * Polls completions. @param words receives the tag and the status of each. @returns their number, or a negative
   * errno; more may be left
   */
  int Poll(uint32_t* words, int limit);

  /** Returns the descriptor that becomes readable on completions, or -1 if the device is not open. */
  int descriptor();
  uint32_t lid() const { return port_attributes_.lid; }
  uint32_t mtu() const { return port_attributes_.active_mtu; }
  uint32_t reads_answered() const { return reads_answered_; }

 private:
  /** A lock that each call holds while it uses the device. */
  class Use {
   public:
    explicit Use(VerbsDevice* device) : lock_(device->in_use_), device_(device) {}
    bool usable() const { return device_->usable_; }

   private:
    std::shared_lock<SharedMutex> lock_;
    VerbsDevice* device_;
  };

  int OpenByName();
  int OpenResources();
  void CloseAll();
  int DestroyPair(int32_t id);
  std::shared_ptr<QueuePair> PairOf(int32_t id);

  const VerbsLibrary* library_;
  const std::string name_;
  const uint8_t port_;
  const uint8_t gid_index_;
  verbs::Context* context_ = nullptr;
  verbs::Pd* pd_ = nullptr;
  verbs::CompChannel* channel_ = nullptr;
  verbs::Cq* cq_ = nullptr;
  verbs::PortAttr port_attributes_ = {};
  uint32_t reads_answered_ = 1;
  uint32_t reads_asked_ = 1;

  SharedMutex in_use_;
  bool usable_ = false;

  /**
   * Guards the following members. Never held during a call into the kernel, except `Post` on devices implemented in
   * software.
   */
  std::mutex mutex_;
  int32_t next_ = 1;
  std::map<int32_t, verbs::Mr*> regions_;
  std::map<int32_t, std::shared_ptr<QueuePair>> pairs_;
};
