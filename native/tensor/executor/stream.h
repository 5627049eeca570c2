/**
 * A thread that executes jobs in the order in which they were queued, so that tensor operations never block the event
 * loop. A fetch sees the effects of all commands that were queued before it.
 */
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "executor/executor.h"

class Stream {
 public:
  /** A job. The executor is null if the stream has been closed and the job is not to be done. */
  using Job = std::function<void(Executor* executor)>;

  /**
   * @param threads the maximum number of threads of one operation
   * @param device the device of the worker's tensors
   * @param reject_nan whether an operation that produces NaN fails
   */
  Stream(uint64_t rank, int threads, c10::Device device, bool reject_nan);
  ~Stream();
  /** Queues a job. After `Stop`, calls the job with null immediately. */
  void Push(Job job);
  /** Finishes the current job, and cancels all others. Does not block. Idempotent. */
  void Stop();
  /** Calls `Stop` and waits for the thread. */
  void Close();
  /**
   * Sets the communicator of the thread, which `Stop` interrupts. Can be called once.
   * @throws std::runtime_error the second time
   */
  void SetCommunicator(std::shared_ptr<Communicator> communicator);
  /** Returns the communicator, or null before `SetCommunicator`. Called on the thread of the event loop. */
  const std::shared_ptr<Communicator>& communicator() const { return communicator_; }

  /**
   * Offers NCCL for the transfer of elements. This function and the following ones are called on the thread of the
   * event loop.
   */
  void UseNccl(std::shared_ptr<const NcclLibrary> nccl) { nccl_ = std::move(nccl); }
  /** Returns null before `UseNccl`. */
  const std::shared_ptr<const NcclLibrary>& nccl() const { return nccl_; }
  c10::Device device() const { return device_; }

 private:
  void Run(uint64_t rank, int threads, bool reject_nan);

  const c10::Device device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool stopped_ = false;
  std::shared_ptr<Communicator> communicator_;
  std::shared_ptr<const NcclLibrary> nccl_;
  std::thread thread_;
};
