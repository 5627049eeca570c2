/**
 * Decides how the channels of one thread wait. A wake-up between two processors takes longer than the rest of an
 * exchange, so a thread that has just served a channel spins for a short time before it sleeps. It spins only if this
 * can help: the peer runs on another processor, no other thread needs this processor, and at most a tenth of the time
 * has been spent on spinning in vain. The event loop continues meanwhile.
 */
#pragma once
#include <napi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "node/libuv.h"

class Channel;

class Spinner {
 public:
  /** Returns the spinner of an environment, and creates it on first use. */
  static std::shared_ptr<Spinner> Of(Napi::Env env);

  explicit Spinner(Napi::Env env);
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;
  ~Spinner();

  /**
   * Called after JavaScript has handled a channel that is awake. The spinner then watches the channel for a short time,
   * or lets it sleep.
   */
  void Served(Channel* channel);
  void Remove(Channel* channel);
  /** Runs when the environment is about to end. */
  void End();

 private:
  /** Runs once in each turn of the event loop. */
  void Turn();
  bool ServeReady();
  bool Spin();
  bool MaySpin();
  bool IsContended(uint64_t now);
  void SleepAll(uint64_t now);
  void Start();
  void Stop();

  Napi::Env env_;
  uv_handle_s* handle_;
  bool running_ = false;
  std::vector<Channel*> awake_;
  /** The time since which no channel has had anything to do, in ns. */
  uint64_t idleSince_ = 0;
  /** The time that may still be spent on spinning in vain, in ns, and the time of its last increase. */
  int64_t credit_;
  uint64_t creditedAt_ = 0;
  /**
   * The number of times that this thread had been preempted at the last check, the time of that check, and the time
   * until which this thread doesn't spin.
   */
  int64_t preemptions_ = 0;
  uint64_t checkedAt_ = 0;
  uint64_t pausedUntil_ = 0;
};
