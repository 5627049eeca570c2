#include "binding/loop.h"

#include <utility>

#include "binding/environment.h"

Loop::Loop(Napi::Env env) : env_(env) {
  auto nothing = Napi::Function::New(env, [](const Napi::CallbackInfo&) {});
  wake_ = Napi::ThreadSafeFunction::New(env, nothing, "viceroy:tensor", 0, 1);
  wake_.Unref(env);
}

void Loop::Post(Job job) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  jobs_.push_back(std::move(job));
  // One wake-up runs all jobs that are posted before it.
  if (jobs_.size() == 1) wake_.NonBlockingCall([this](Napi::Env env, Napi::Function) { Run(env); });
}

void Loop::Ref() {
  if (waiting_++ == 0) wake_.Ref(env_);
}

void Loop::Unref() {
  if (--waiting_ == 0 && !closed_) wake_.Unref(env_);
}

void Loop::Close() {
  std::vector<Job> dropped;
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  dropped.swap(jobs_);
  wake_.Abort();
}

void Loop::Run(Napi::Env env) {
  std::vector<Job> jobs;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    jobs.swap(jobs_);
  }
  Napi::HandleScope scope(env);
  for (auto& job : jobs) {
    try {
      job(env);
    } catch (const Ending&) {
      return;
    } catch (const Napi::Error&) {
      // Ignored: the thread is being terminated, so the error cannot be reported.
    }
  }
}
