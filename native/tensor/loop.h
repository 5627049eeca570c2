/**
 * The way from other threads to the thread of an environment's event loop. What is posted runs there in order; once the environment
 * ends nothing runs any more, and what is posted is dropped.
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
  /** From any thread. Does not wait. */
  void Post(Job job);
  /** As long as somebody waits for what is posted the event loop stays alive. On the loop's thread. */
  void Ref();
  void Unref();
  /** Before the environment ends, on its thread. */
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
