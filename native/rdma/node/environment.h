/**
 * The state that the addon keeps for each Node.js environment, that is, for the main thread and for each worker thread.
 * The addon has no global state for them, so that threads can start and end at any time.
 */
#pragma once
#include <napi.h>

#include <atomic>
#include <map>
#include <memory>

#include "node/mapping.h"

class Spinner;

struct Environment {
  /** Set when the environment is about to end. Work in the thread pool then stops at its next step. */
  std::atomic<bool> ending{false};
  /** The mappings that have an ArrayBuffer in this environment, by their address. */
  std::map<void*, std::shared_ptr<Mapping>> mappings;

  /** The spinner that the channels of this thread share, created with the first channel. */
  std::shared_ptr<Spinner> spinner;

  /**
   * Returns the mapping that contains an address, or null. Work in the thread pool holds the mapping while it uses the
   * memory.
   */
  std::shared_ptr<Mapping> HolderOf(const void* address) const;

  /** Returns the state of the environment that a call comes from. Work in the thread pool holds it while it runs. */
  static std::shared_ptr<Environment> Of(Napi::Env env);
  /** Called once, when the addon is loaded into an environment. */
  static void Begin(Napi::Env env);
};
