/**
 * How the channels of one thread wait. Between two processors, to be woken takes longer than everything else: so a thread that has
 * just been served looks for more for a short time before it sleeps. Only where that can lead to anything: the peer runs on another
 * processor, nobody else wants this one, and looking has not been in vain for most of the time. The event loop goes on meanwhile.
 */
#pragma once
#include <napi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "loop.h"

class Channel;

class Spinner {
 public:
  /** The one of an environment. */
  static std::shared_ptr<Spinner> Of(Napi::Env env);

  explicit Spinner(Napi::Env env);
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;
  ~Spinner();

  /** The channel is awake, and JavaScript has done what there was to do: it is watched for a while, or sleeps. */
  void Served(Channel* channel);
  void Remove(Channel* channel);
  /** The environment is about to end. */
  void End();

 private:
  /** A turn of the event loop. */
  void Turn();
  bool ServeReady();
  bool Look();
  bool MayLook();
  bool IsWanted(uint64_t now);
  void SleepAll(uint64_t now);
  void Start();
  void Stop();

  Napi::Env env_;
  uv_handle_s* handle_;
  bool running_ = false;
  std::vector<Channel*> awake_;
  /** Since when there is nothing to do, in ns. */
  uint64_t idleSince_ = 0;
  /** What may be spent on looking in vain, in ns, and when it was last added to. */
  int64_t credit_;
  uint64_t creditedAt_ = 0;
  /** How often this thread had to make way for another, when that was last asked, and until when it does not look. */
  int64_t preemptions_ = 0;
  uint64_t askedAt_ = 0;
  uint64_t pausedUntil_ = 0;
};
