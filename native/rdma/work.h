/**
 * Work in libuv's pool for which a promise stands. The promise resolves to a number when all lanes of the work have ended, and never
 * sooner: whoever sees it settled knows that nothing touches the memory any more. It does not reject.
 */
#pragma once
#include <napi.h>

#include <atomic>
#include <memory>
#include <vector>

#include "environment.h"

class Work {
 public:
  virtual ~Work() = default;

  /** Starts the work; it deletes itself at its end. @param lanes how many threads of the pool take part, at least 1 */
  static Napi::Value Start(Napi::Env env, std::unique_ptr<Work> work, uint32_t lanes);

  /** Keeps an object alive until the work has ended, and with it the mapping that `data` is in. */
  void Hold(Napi::Env env, Napi::Object object, const void* data);

 protected:
  /** Runs on a thread of the pool, once for each lane; several at a time. Asks `ending` between steps. */
  virtual void Run() = 0;
  /** What the promise resolves to. */
  virtual int32_t result() const = 0;
  /** The environment ends: nobody wants what is left. */
  bool ending() const { return environment_->ending; }

 private:
  static void Execute(napi_env env, void* data);
  static void Complete(napi_env env, napi_status status, void* data);
  void Settle(Napi::Env env);

  std::shared_ptr<Environment> environment_;
  std::vector<Napi::ObjectReference> held_;
  std::vector<std::shared_ptr<Mapping>> mappings_;
  std::vector<napi_async_work> lanes_;
  std::unique_ptr<Napi::Promise::Deferred> deferred_;
  /** Lanes that have not ended; of the thread of the event loop alone. */
  uint32_t left_ = 0;
};
