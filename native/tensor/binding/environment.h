/**
 * The state that the addon keeps for each Node.js environment, that is, for the main thread and for each worker thread.
 * The table of operations, the allocator and the state of libtorch exist once per process.
 */
#pragma once
#include <c10/util/flat_hash_map.h>
#include <napi.h>

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "binding/call_sites.h"
#include "binding/loop.h"
#include "libtorch/torch.h"

struct Box;
class Recorder;
class Stream;

/** The size under which a storage was counted, and the number of boxes that use it. */
struct CountedStorage {
  size_t boxes;
  int64_t bytes;
};

/** Thrown if the environment is ending and no object of JavaScript, not even an error, can be created. */
struct Ending {};

struct Environment {
  explicit Environment(Napi::Env env) : loop(std::make_shared<Loop>(env)) {}

  std::shared_ptr<Loop> loop;
  /** The class of tensors. */
  Napi::FunctionReference tensorClass;
  /** The function of JavaScript that returns the call site of the current operation, as an index of `sites`. */
  Napi::FunctionReference site;
  /**
   * A function that returns the call site and its depth, the number of frames of JavaScript from the innermost one to
   * that of the site. Called instead of `site` if there is a sampler.
   */
  Napi::FunctionReference locateSite;
  /** The function of JavaScript that is told the number of a recorder whose commands must be sent. */
  Napi::FunctionReference noteRecorded;
  /** The call sites in the user's code. */
  std::vector<std::string> sites;
  CallSites callSites;
  /** All boxes that exist. A pointer that is not in this set is not dereferenced. */
  ska::flat_hash_set<const void*> boxes;
  ska::flat_hash_map<const void*, CountedStorage> storages;
  /** The sum of the sizes in `storages`, in bytes. */
  int64_t counted = 0;
  /** The part of `counted` that has been reported to V8. */
  int64_t reported = 0;
  /** The recorder of operations without tensors, or null if such operations run in this process. */
  std::shared_ptr<Recorder> recorder;
  /** The streams that still have a JavaScript object. */
  std::unordered_set<Stream*> streams;

  /** Returns the state of the environment that a call comes from. */
  static Environment& Of(Napi::Env env) { return *env.GetInstanceData<Environment>(); }
  /**
   * Called before something is recorded: tells JavaScript of commands that must be sent.
   * @throws Ending
   */
  void NoteRecording(Napi::Env env, Recorder& recorder);
  /**
   * Prepares the recording of an operation: like `NoteRecording`, and finds the call site.
   * @returns an index of `sites`
   * @throws Ending
   */
  size_t BeginRecording(Napi::Env env, Recorder& recorder);
  /** Called once, when the addon is loaded into an environment. */
  static void Begin(Napi::Env env);

 private:
  /** Returns the call site of the current operation, which is found by the stack if it is known. */
  size_t Site(Napi::Env env);
};
