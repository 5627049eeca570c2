/**
 * What the addon keeps for each Node.js environment: the main thread has one, and so has every worker thread. Of the process there
 * are the operations, the allocator and what libtorch itself keeps.
 */
#pragma once
#include <c10/util/flat_hash_map.h>
#include <napi.h>

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "loop.h"
#include "torch.h"

struct Box;
class Recorder;
class Stream;

/** How many bytes a storage was counted for, and by how many tensors of JavaScript. */
struct CountedStorage {
  size_t boxes;
  int64_t bytes;
};

/** Thrown where the environment is being ended: no object of JavaScript can be made any more, errors neither. */
struct Ending {};

struct Environment {
  explicit Environment(Napi::Env env) : loop(std::make_shared<Loop>(env)) {}

  std::shared_ptr<Loop> loop;
  /** Its instances are tensors. */
  Napi::FunctionReference tensorClass;
  /** Says where the code stands that records an operation, as a place in `sites`. */
  Napi::FunctionReference site;
  /** Places in the code, each told once. */
  std::vector<std::string> sites;
  /** Of all tensors of JavaScript that there are. What is not in it is not dereferenced. */
  ska::flat_hash_set<const void*> boxes;
  ska::flat_hash_map<const void*, CountedStorage> storages;
  /** Sum of `storages`. */
  int64_t counted = 0;
  /** What V8 has been told of that: it is told when it matters. */
  int64_t told = 0;
  /** What operations without tensors are recorded by; null: they are run here. */
  std::shared_ptr<Recorder> recorder;
  /** Streams that have not been closed. */
  std::unordered_set<Stream*> streams;

  /** Of the environment that a call comes from. */
  static Environment& Of(Napi::Env env) { return *env.GetInstanceData<Environment>(); }
  /** What `site` says: a place in `sites`. @throws Ending */
  size_t Site(Napi::Env env) const;
  /** Once, when the addon is loaded. */
  static void Begin(Napi::Env env);
};
