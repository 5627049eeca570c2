/**
 * Work in libuv's thread pool, with a promise of its result. One piece of work may run on several threads of the pool
 * ("lanes"). The promise resolves to a number when the last of them has ended, and never sooner: from then on the work
 * touches no memory. The promise never rejects.
 */
#pragma once
#include <napi.h>

#include <atomic>
#include <memory>
#include <vector>

#include "node/environment.h"

class Work {
 public:
  virtual ~Work() = default;

  /**
   * Starts the work, which deletes itself at its end. @param lanes number of threads of the pool that take part, at
   * least 1
   */
  static Napi::Value Start(Napi::Env env, std::unique_ptr<Work> work, uint32_t lanes);

  /** Keeps an object alive until the work has ended, and also the mapping that contains `data`. */
  void Hold(Napi::Env env, Napi::Object object, const void* data);

 protected:
  /** Runs on threads of the pool, once per lane and concurrently. Implementations check `ending` between steps. */
  virtual void Run() = 0;
  /** The number that the promise resolves to. */
  virtual int32_t result() const = 0;
  /** Returns whether the environment ends, so that the remaining work is no longer needed. */
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
  /** The number of lanes that have not ended. Used only on the thread of the event loop. */
  uint32_t left_ = 0;
};
