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

#include "recorder/capture.h"
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
  /** Returns the first of new numbers for tensors. */
  uint64_t NextReferences(uint64_t count) { return references_.fetch_add(count) + 1; }
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
  /** Returns the call site with this number. */
  std::string SiteText(uint32_t number);
  /** Called when an object for a tensor with a new number has been created. */
  void NoteCreated(const std::shared_ptr<Reference>& reference);
  /**
   * Lets a capture see all commands from now on. Other recorders must not record on this thread meanwhile. There is at
   * most one capture on a thread.
   */
  void BeginCapture(std::shared_ptr<Capture> capture);
  void EndCapture();
  /** Returns the recorder with a capture on this thread, or null. */
  static Recorder* Capturing();
  /**
   * Notes that the code of a captured call uses a tensor otherwise than as an argument of an operation.
   * @param gradient whether it reads or sets the gradient of the tensor
   */
  static void NoteUse(const at::Tensor& tensor, bool gradient);
  /** Sets whether the numbers among the arguments of the next call are numbers that change from replay to replay. */
  void MarkNumbers(bool marks) { marks_numbers_ = marks; }
  /** States the reason why the current call of a step cannot be replayed. Does nothing without a capture. */
  void RefuseCapture(const std::string& reason);

  /**
   * Defines a program.
   * @param definition the definition after the number
   * @returns the number, or 0 if there are too many programs
   */
  uint32_t DefineProgram(const std::vector<uint8_t>& definition);
  /** Records that a program will not be replayed again. */
  void ForgetProgram(uint32_t program);
  void BindGradients(uint32_t program, const std::vector<uint64_t>& gradients);
  void Replay(uint32_t program, const std::vector<uint64_t>& arguments, uint64_t base,
              const std::vector<double>& numbers);
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
  /** The index of the current call site in the environment. Used by the thread of the event loop. */
  size_t last_place_ = SIZE_MAX;
  /** The call sites by their numbers. */
  std::vector<std::string> site_texts_;
  uint32_t site_ = 0;
  std::shared_ptr<Capture> capture_;
  /** Whether there is a capture. It is read without the mutex for each new tensor, on each thread. */
  std::atomic<bool> is_capturing_{false};
  bool marks_numbers_ = false;
  uint32_t program_numbers_ = 0;
  /** The sizes of the definitions of programs, by number, and their sum. */
  std::unordered_map<uint32_t, size_t> programs_;
  size_t program_bytes_ = 0;
  std::vector<uint32_t> forgotten_;
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
