/**
 * Bytes between two processes in both directions, through memory that they share, and who does what when. Neither needs the other to
 * be honest, alive or awake: whatever it does, nothing here crashes, and nothing blocks.
 */
#pragma once
#include <napi.h>

#include <memory>
#include <optional>

#include "channel_memory.h"
#include "ring.h"
#include "spinner.h"
#include "watch.h"

class Channel : public Napi::ObjectWrap<Channel> {
 public:
  /**
   * For JavaScript: `new Channel(bytes, token)` offers one, with two rings of so many bytes and 16 bytes to know it by.
   * `new Channel(bytes, token, pid, memory, waker, awaited)` joins that of the process `pid`. Throws where that cannot be, or is not
   * what was offered.
   */
  static Napi::Function Define(Napi::Env env);

  explicit Channel(const Napi::CallbackInfo& info);
  ~Channel() override;

  /** Whether JavaScript has something to do: bytes to read, or room to write where it waits for that. */
  bool Ready() const;
  /** Lets JavaScript do it. It may close the channel. */
  void Serve();
  /** From now on the peer wakes this side. @returns false instead if there is something to do */
  bool Sleep();
  /** Notes where this thread runs, so that the peer can tell. */
  void RunsOn(int processor);
  /** Whether the peer runs elsewhere, so that it may answer while this thread waits. */
  bool PeerRunsBeside(int processor) const;

 private:
  /** The environment is about to end. */
  static void End(void* data);

  /** The peer has woken this side. */
  void Heard();
  void WakePeer();
  void Release();

  /** `descriptors() -> [memory, waker, awaited]`: what the other side is told when it is to join. */
  Napi::Value Descriptors(const Napi::CallbackInfo& info);
  /**
   * `begin(sent, ready)`: both have it. Calls `ready` whenever there is something to do, until `close`; where that returns false, not
   * before `resume`. `sent` bytes have gone another way before the first that is written here.
   */
  Napi::Value Begin(const Napi::CallbackInfo& info);
  Napi::Value Resume(const Napi::CallbackInfo& info);
  /** `before() -> number`: bytes that the peer has sent another way before the first one here; -1: none has come here yet. */
  Napi::Value Before(const Napi::CallbackInfo& info);
  /** `write(bytes, from) -> number`: how many it has taken, from an offset on; -1: the peer has broken the ring. */
  Napi::Value Write(const Napi::CallbackInfo& info);
  /** `read(target) -> number`: how many bytes it has copied, 0: there are none; -1: the peer has broken the ring. */
  Napi::Value Read(const Napi::CallbackInfo& info);
  Napi::Value Close(const Napi::CallbackInfo& info);

  /** None once it is closed; what follows is in it. */
  std::unique_ptr<ChannelMemory> memory_;
  std::optional<RingWriter> writer_;
  std::optional<RingReader> reader_;
  std::shared_ptr<Spinner> spinner_;
  std::unique_ptr<Watch> watch_;
  Napi::FunctionReference ready_;
  Napi::AsyncContext context_;
  bool paused_ = false;
};
