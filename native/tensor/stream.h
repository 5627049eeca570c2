/**
 * A thread that executes commands in the order in which they come, so that the event loop never waits for tensors. What was submitted
 * is done before what comes later; a fetch sees everything that was submitted before it.
 */
#pragma once
#include <napi.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "executor.h"
#include "loop.h"

class Stream {
 public:
  /** What the thread does; null: it is only told that this won't be done any more. */
  using Job = std::function<void(Executor* executor)>;

  /**
   * @param threads of processors that one operation may use
   * @param device that its tensors are on
   * @param refuse_nan whether an operation that makes one has failed
   */
  Stream(std::shared_ptr<Loop> loop, uint64_t rank, int threads, c10::Device device, bool refuse_nan);
  ~Stream();
  /** After `Stop` the job is told at once. */
  void Push(Job job);
  /** What is being executed is finished, nothing else. Idempotent. Does not wait. */
  void Stop();
  /** Waits for the thread, after `Stop`. */
  void Close();
  /** What its thread exchanges elements by with other processes; `Stop` interrupts that. Once. @throws std::runtime_error the second time */
  void Use(std::shared_ptr<Lines> lines);
  /** Null before `Use`. On the thread of the event loop. */
  const std::shared_ptr<Lines>& lines() const { return lines_; }

  /** What it could move elements by, beside lines. On the thread of the event loop, as what follows. */
  void UseNccl(std::shared_ptr<const NcclLibrary> nccl) { nccl_ = std::move(nccl); }
  /** Null before `UseNccl`. */
  const std::shared_ptr<const NcclLibrary>& nccl() const { return nccl_; }
  c10::Device device() const { return device_; }

  const std::shared_ptr<Loop>& loop() const { return loop_; }

 private:
  void Run(uint64_t rank, int threads, bool refuse_nan);

  const c10::Device device_;

  std::shared_ptr<Loop> loop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool stopped_ = false;
  std::shared_ptr<Lines> lines_;
  std::shared_ptr<const NcclLibrary> nccl_;
  std::thread thread_;
};

/** (rank, threads, whether an operation that makes NaN has failed, device, which one that is if it says `cuda` alone) → a stream */
Napi::Value NewStream(const Napi::CallbackInfo& info);
/** (stream, commands) → a promise; it rejects if the commands are refused. Operations that fail do not reject it. */
Napi::Value SubmitCommands(const Napi::CallbackInfo& info);
/** (stream, number, tensor) → a promise: the worker has a copy of the tensor under the number */
Napi::Value PutTensor(const Napi::CallbackInfo& info);
/** (stream, number, operation, place in the code, message) → a promise: the worker has a failure under the number */
Napi::Value FailTensor(const Napi::CallbackInfo& info);
/** (stream, number) → a promise of a tensor of this process; it rejects with `op` and `site` if it has failed */
Napi::Value FetchTensor(const Napi::CallbackInfo& info);
/** (stream) → a promise of counts, after what was submitted */
Napi::Value StreamStats(const Napi::CallbackInfo& info);
/** (stream, rank, how many there are) → { pid, memory, token }: how processes of this machine reach this one. Once. */
Napi::Value OfferLines(const Napi::CallbackInfo& info);
/** (stream, file) → the version of that NCCL, which it can move elements by; 0: it takes no tensors of the stream's device. */
Napi::Value OfferNccl(const Napi::CallbackInfo& info);
/** (file) → { version, file }: what NCCL there is. */
Napi::Value FindNccl(const Napi::CallbackInfo& info);
/** (stream, address of this machine) → where each of the others reaches this process, as Uint8Arrays */
Napi::Value ListenLines(const Napi::CallbackInfo& info);
/**
 * (stream, sizes of the dimensions of the mesh, [{ pid, memory, token } of this machine, or the Uint8Array of another one], whether all
 * have the same NCCL) → a promise.
 * One for each process, also for this one, whose own is not looked at.
 */
Napi::Value JoinLines(const Napi::CallbackInfo& info);
/** (stream): what waits rejects. Idempotent. */
Napi::Value CloseStream(const Napi::CallbackInfo& info);
