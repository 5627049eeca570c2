/**
 * A channel for bytes between two processes, in both directions, through memory that both have mapped. This file
 * decides when a side reads, writes, sleeps and wakes its peer; ring.h holds the data structure and channel_memory.h
 * the shared resources. A peer may be malicious, dead or asleep: nothing that it does makes this side crash or block.
 */
#pragma once
#include <napi.h>

#include <memory>
#include <optional>

#include "channel/channel_memory.h"
#include "channel/ring.h"
#include "channel/spinner.h"
#include "node/watch.h"

class Channel : public Napi::ObjectWrap<Channel> {
 public:
  /**
   * Defines the class for JavaScript. `new Channel(bytes, token)` offers a channel with two rings of `bytes` bytes each
   * and a token of 16 bytes that identifies it. `new Channel(bytes, token, pid, memory, waker, awaited)` joins the
   * channel that process `pid` offers. The constructor throws if this fails, or if the memory is not the memory that
   * was offered.
   */
  static Napi::Function Define(Napi::Env env);

  explicit Channel(const Napi::CallbackInfo& info);
  ~Channel() override;

  /** Returns whether JavaScript has something to do: there are bytes to read, or there is room that the writer waits
   * for. */
  bool Ready() const;
  /** Calls the `ready` function of JavaScript, which reads and writes. That function may close the channel. */
  void Serve();
  /**
   * Asks the peer to wake this side from now on. Returns false, and doesn't sleep, if JavaScript has something to do
   * already.
   */
  bool Sleep();
  /** Tells the peer the processor that this thread runs on. */
  void SetProcessor(int processor);
  /** Returns whether the peer runs on another processor, so that the peer can answer while this thread spins. */
  bool PeerIsOnOtherProcessor(int processor) const;

 private:
  /** Runs when the environment is about to end. */
  static void End(void* data);

  /** Runs when the peer has woken this side. */
  void OnWakeUp();
  void WakePeer();
  void Release();

  /** `descriptors() -> [memory, waker, awaited]`: the numbers that the other side needs to join the channel. */
  Napi::Value Descriptors(const Napi::CallbackInfo& info);
  /**
   * `begin(sent, ready)`: starts the channel, once both sides have it. Calls `ready` whenever there is something to do,
   * until `close`. If `ready` returns false, it is not called again before `resume`. `sent` is the number of bytes that
   * this side has sent on another connection before its first byte in this channel.
   */
  Napi::Value Begin(const Napi::CallbackInfo& info);
  Napi::Value Resume(const Napi::CallbackInfo& info);
  /**
   * `before() -> number`: the number of bytes that the peer has sent on another connection before its first byte here,
   * or -1 if no byte has arrived here yet.
   */
  Napi::Value Before(const Napi::CallbackInfo& info);
  /**
   * `write(bytes, from) -> number`: the number of bytes taken, starting at offset `from`, or -1 if the peer has
   * corrupted the ring.
   */
  Napi::Value Write(const Napi::CallbackInfo& info);
  /**
   * `read(target) -> number`: the number of bytes copied, 0 if there are none, or -1 if the peer has corrupted the
   * ring.
   */
  Napi::Value Read(const Napi::CallbackInfo& info);
  Napi::Value Close(const Napi::CallbackInfo& info);

  /** Null once the channel is closed. The writer and the reader point into this memory. */
  std::unique_ptr<ChannelMemory> memory_;
  std::optional<RingWriter> writer_;
  std::optional<RingReader> reader_;
  std::shared_ptr<Spinner> spinner_;
  std::unique_ptr<Watch> watch_;
  Napi::FunctionReference ready_;
  Napi::AsyncContext context_;
  bool paused_ = false;
};
