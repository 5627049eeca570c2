/**
 * What a controller has recorded for one mesh and not yet sent. Used by the thread of its event loop, and while that waits for
 * gradients by a thread of libtorch's.
 */
#pragma once
#include <napi.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "writer.h"

class Recorder : public std::enable_shared_from_this<Recorder> {
 public:
  /** Of this one, in the process. */
  uint64_t id() const { return id_; }
  /** Its mesh has ended: nothing is recorded any more. */
  void Close() { closed_ = true; }
  bool closed() const { return closed_; }
  /** A new number for a tensor. */
  uint64_t NextReference() { return ++references_; }
  /** No tensor has this number any more. */
  void Drop(uint64_t reference);
  /** @param results numbers of its tensors, 0 for those that nobody gets. @throws c10::Error when an argument cannot be sent */
  void Call(const c10::OperatorHandle& op, const std::vector<c10::IValue>& arguments, const std::vector<uint64_t>& results);
  /** A tensor of this process becomes one of the mesh. */
  at::Tensor Send(const at::Tensor& tensor);
  /** A tensor of the mesh that workers are given in another way. */
  at::Tensor Declare(c10::IntArrayRef sizes, c10::ScalarType dtype);
  void Seed(uint64_t seed, bool ranks);
  /** Where in the controller's code what comes next is recorded: one of the places that its environment knows. */
  void Stand(const std::vector<std::string>& sites, size_t place);
  /** All that has been recorded since the last time. */
  std::vector<uint8_t> Take();
  size_t pending();
  /** Who records what this thread does; null if nobody does. */
  static std::shared_ptr<Recorder> Current();

 private:
  void WriteDropped();
  uint32_t OpNumber(const c10::OperatorHandle& op);

  static uint64_t NextId();

  const uint64_t id_ = NextId();
  std::atomic<bool> closed_{false};
  std::mutex mutex_;
  Writer out_;
  std::vector<uint64_t> dropped_;
  /** Numbers of operations, by their schemas: each has one, which stays where it is. */
  std::unordered_map<const void*, uint32_t> ops_;
  /** Numbers of places, by those that the environment has for them. */
  std::unordered_map<size_t, uint32_t> sites_;
  uint32_t site_ = 0;
  std::atomic<uint64_t> references_{0};
};

/** As long as it lives, what its thread does is recorded. */
class Recording {
 public:
  Recording(std::shared_ptr<Recorder> recorder, const std::vector<std::string>& sites, size_t place);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  std::shared_ptr<Recorder> before_;
};

/** As long as it lives, what threads of libtorch's do for gradients is recorded. One at a time in a process. */
class EngineRecording {
 public:
  explicit EngineRecording(std::shared_ptr<Recorder> recorder);
  ~EngineRecording();
  EngineRecording(const EngineRecording&) = delete;
  EngineRecording& operator=(const EngineRecording&) = delete;
};

/** () → a recorder. The first one teaches libtorch the device of recorded tensors. */
Napi::Value NewRecorder(const Napi::CallbackInfo& info);
/** (recorder or null): what operations without tensors are recorded by from now on. → nothing */
Napi::Value UseRecorder(const Napi::CallbackInfo& info);
/** (recorder) → commands, as a Uint8Array */
Napi::Value TakeCommands(const Napi::CallbackInfo& info);
/** (recorder) → bytes that wait to be taken */
Napi::Value PendingCommands(const Napi::CallbackInfo& info);
/** (recorder, tensor) → a tensor of the mesh with the elements of one of this process */
Napi::Value SendTensor(const Napi::CallbackInfo& info);
/** (recorder, seed, whether each rank has its own) */
Napi::Value SeedRanks(const Napi::CallbackInfo& info);
/** (recorder, shape, dtype) → a tensor of the mesh that its workers are given in another way */
Napi::Value DeclareTensor(const Napi::CallbackInfo& info);
/** (recorder) → its number in this process */
Napi::Value RecorderNumber(const Napi::CallbackInfo& info);
/** (recorder): operations on its tensors throw from now on */
Napi::Value CloseRecorder(const Napi::CallbackInfo& info);
/** (tensor) → the number of its recorder and its own, or null for a tensor of this process */
Napi::Value PlaceOf(const Napi::CallbackInfo& info);
