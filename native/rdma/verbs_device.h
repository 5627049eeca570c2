/**
 * An RDMA device, opened: what is registered on it, its queue pairs, and the one completion queue of them all. Knows nothing of
 * JavaScript, and never waits: callers are the thread of the event loop, for `Post` and `Poll`, and threads of the pool for all else,
 * whose calls go to the kernel.
 */
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "verbs_library.h"
#include "verbs_pair.h"

class VerbsDevice {
 public:
  struct Transfer {
    uint32_t tag;
    bool write;
    /** Where in the region. */
    uint64_t offset;
    uint32_t length;
    uint64_t remote;
    uint32_t key;
  };

  VerbsDevice(const VerbsLibrary* library, std::string name, uint32_t port, uint32_t gid_index);
  VerbsDevice(const VerbsDevice&) = delete;
  VerbsDevice& operator=(const VerbsDevice&) = delete;
  ~VerbsDevice() { Close(); }

  /** What follows returns 0 or an errno, unless it says otherwise; ESHUTDOWN when it is not open, or not any more. */
  int Open();
  /**
   * Ends all queue pairs, takes all registrations back, when calls of other threads have ended. When it has returned the device touches
   * no memory any more.
   */
  void Close();

  /** @returns the id of what is registered, above 0; or an errno, negative */
  int32_t Register(void* data, size_t length, int access);
  int Deregister(int32_t id);
  /** By which others name it; 0 when it is not registered. */
  uint32_t KeyOf(int32_t id);

  /** @returns the id of a new queue pair, above 0; or an errno, negative */
  int32_t CreatePair();
  /** Its number on the wire; 0 when there is none. */
  uint32_t NumberOf(int32_t id);
  /** @param first the first packet's number of this side */
  int Connect(int32_t id, uint32_t first, const VerbsPair::Peer& peer, const VerbsPair::Patience& patience);
  /** What is under way completes, flushed; nothing can be posted any more. */
  int Fail(int32_t id);
  /** Nothing of it touches memory any more when it has returned. */
  int Destroy(int32_t id);

  /** @param region where bytes go, or come from. EINVAL: they leave it */
  int Post(int32_t pair, int32_t region, const Transfer& transfer);
  /** @param words takes the tag and the status of each completion. @returns how many; may leave more. Negative: an errno */
  int Poll(uint32_t* words, int limit);

  /** -1 when it is not open. */
  int descriptor();
  uint32_t lid() const { return port_attributes_.lid; }
  uint32_t mtu() const { return port_attributes_.active_mtu; }
  uint32_t reads_answered() const { return reads_answered_; }

 private:
  /** Held by each call that uses the device. */
  class Use {
   public:
    explicit Use(VerbsDevice* device) : lock_(device->in_use_), device_(device) {}
    bool possible() const { return device_->usable_; }

   private:
    std::shared_lock<std::shared_mutex> lock_;
    VerbsDevice* device_;
  };

  int OpenByName();
  int OpenAll();
  void GiveBack();
  int DestroyPair(int32_t id);
  std::shared_ptr<VerbsPair> PairOf(int32_t id);

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

  std::shared_mutex in_use_;
  bool usable_ = false;

  /** Guards what follows; never held in a call that goes to the kernel, `Post` on devices of software excepted. */
  std::mutex mutex_;
  int32_t next_ = 1;
  std::map<int32_t, verbs::Mr*> regions_;
  std::map<int32_t, std::shared_ptr<VerbsPair>> pairs_;
};
