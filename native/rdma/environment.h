/**
 * What the addon keeps for each Node.js environment: the main thread has one, and so has every worker thread. Nothing of it is
 * global, so that threads can come and go.
 */
#pragma once
#include <napi.h>

#include <atomic>
#include <map>
#include <memory>

#include "mapping.h"

class Spinner;

struct Environment {
  /** The environment is about to end: work in the pool stops at its next step. */
  std::atomic<bool> ending{false};
  /** Mappings that an ArrayBuffer of this environment stands for, by their address. */
  std::map<void*, std::shared_ptr<Mapping>> mappings;

  /** How the channels of this thread wait, once there is one. */
  std::shared_ptr<Spinner> spinner;

  /** The mapping that holds an address, if it is one of these: who works on it in the pool holds it meanwhile. */
  std::shared_ptr<Mapping> HolderOf(const void* address) const;

  /** Of the environment that a call comes from. Work in the pool holds it as long as it runs. */
  static std::shared_ptr<Environment> Of(Napi::Env env);
  /** Once, when the addon is loaded. */
  static void Begin(Napi::Env env);
};
