/**
 * The commands that a controller has recorded for one mesh and not yet sent. Used by the thread of the event loop, and
 * by threads of libtorch's autograd engine while the event loop waits for gradients.
 */
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "recorder/writer.h"

class Recorder : public std::enable_shared_from_this<Recorder> {
 public:
  /** Returns the number of this recorder in the process. */
  uint64_t id() const { return id_; }
  /** Called when the mesh has ended. Nothing is recorded after that. */
  void Close() { closed_ = true; }
  bool closed() const { return closed_; }
  /** Returns a new number for a tensor. */
  uint64_t NextReference() { return ++references_; }
  /** Records that a tensor is no longer used. */
  void Drop(uint64_t reference);
  /**
   * Records a call.
   * @param results the numbers of the results, 0 for results that are not used
   * @throws c10::Error if an argument cannot be sent
   */
  void Call(const c10::OperatorHandle& op, const std::vector<c10::IValue>& arguments,
            const std::vector<uint64_t>& results);
  /** Returns a tensor of the mesh with the elements of a tensor of this process. */
  at::Tensor Send(const at::Tensor& tensor);
  /** Returns a tensor of the mesh whose elements the workers receive in another way. */
  at::Tensor Declare(c10::IntArrayRef sizes, c10::ScalarType dtype);
  void Seed(uint64_t seed, bool ranks);
  /**
   * Sets the call site of the commands that follow.
   * @param sites the call sites of the environment
   * @param place an index of `sites`
   */
  void SetSite(const std::vector<std::string>& sites, size_t place);
  /** Removes and returns the recorded commands. */
  std::vector<uint8_t> Take();
  /** Returns whether so much has been recorded that it must be sent although the code has not paused. */
  bool IsFull() const { return full_; }
  /**
   * Returns whether the owner must be told that something is recorded: before the first operation since `Take`, and
   * when the recorder is full.
   */
  bool NeedsNotice();
  /** Returns the recorder of operations of this thread, or null. */
  static std::shared_ptr<Recorder> Current();

 private:
  void WriteDropped();
  /** Called with the mutex after a command was written. */
  void CountCommand();
  uint32_t OpNumber(const c10::OperatorHandle& op);

  static uint64_t NextId();

  const uint64_t id_ = NextId();
  std::atomic<bool> closed_{false};
  /** Whether the owner has been told of commands since `Take`. Used by the thread of the event loop. */
  bool noticed_ = false;
  std::atomic<bool> full_{false};
  std::mutex mutex_;
  Writer out_;
  /** The number of commands in `out_`, without definitions and dropped tensors. */
  size_t commands_ = 0;
  std::vector<uint64_t> dropped_;
  /** The numbers of operations, by the addresses of their schemas, which do not change. */
  std::unordered_map<const void*, uint32_t> ops_;
  /** The numbers of call sites, by their indices in the environment. */
  std::unordered_map<size_t, uint32_t> sites_;
  uint32_t site_ = 0;
  std::atomic<uint64_t> references_{0};
};

/** Records the operations of this thread as long as this object lives. */
class RecordingScope {
 public:
  RecordingScope(std::shared_ptr<Recorder> recorder, const std::vector<std::string>& sites, size_t place);
  ~RecordingScope();
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;

 private:
  std::shared_ptr<Recorder> previous_;
};

/**
 * Records the operations of the threads of the autograd engine as long as this object lives. There is at most one such
 * object in a process at a time.
 */
class EngineRecordingScope {
 public:
  explicit EngineRecordingScope(std::shared_ptr<Recorder> recorder);
  ~EngineRecordingScope();
  EngineRecordingScope(const EngineRecordingScope&) = delete;
  EngineRecordingScope& operator=(const EngineRecordingScope&) = delete;
};
