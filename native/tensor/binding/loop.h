/**
 * Runs functions from other threads on the thread of an environment's event loop, in the order in which they are
 * posted. After the environment has ended, posted functions are dropped.
 */
#pragma once
#include <napi.h>

#include <functional>
#include <mutex>
#include <vector>

class Loop {
 public:
  using Job = std::function<void(Napi::Env env)>;

  explicit Loop(Napi::Env env);
  /** Queues a job. Can be called from any thread and does not block. */
  void Post(Job job);
  /** `Ref` keeps the event loop alive until the matching call of `Unref`. Both are called on the thread of the loop. */
  void Ref();
  void Unref();
  /** Drops all jobs. Called on the thread of the loop before the environment ends. */
  void Close();

 private:
  void Run(Napi::Env env);

  Napi::Env env_;
  Napi::ThreadSafeFunction wake_;
  std::mutex mutex_;
  std::vector<Job> jobs_;
  bool closed_ = false;
  size_t waiting_ = 0;
};
