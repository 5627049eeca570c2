/**
 * The calls of a step with arguments of certain shapes, in the controller. The first calls are captured. When two
 * successive calls are equal, the workers get a program, and later calls can be replayed by one command.
 */
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "recorder/captured_call.h"

class Recorder;

class StepProgram {
 public:
  /** @param arguments tensors of the recorder, as of all calls that use this object */
  StepProgram(std::shared_ptr<Recorder> recorder, const std::vector<at::Tensor>& arguments);
  ~StepProgram();
  StepProgram(const StepProgram&) = delete;
  StepProgram& operator=(const StepProgram&) = delete;

  /** The result of a capture. */
  struct Comparison {
    /** Whether the call has been compared, and replays would repeat it. Otherwise, earlier calls are compared next. */
    bool compared;
    /** The reason why the next call is not replayed, or empty. */
    std::string why;
  };

  /** Returns whether arguments have the shapes, types and strides of this object, and the same recorder and mode. */
  bool Matches(const std::vector<at::Tensor>& arguments) const;
  /** Begins to capture a call. */
  void BeginCapture(const std::vector<at::Tensor>& arguments);
  /**
   * Ends the capture. If the call was equal to the one before, later calls can be replayed.
   * @param numbers the number of marked numbers
   * @param refusal a reason why the call cannot be replayed, or empty
   */
  Comparison EndCapture(const std::vector<at::Tensor>& results, size_t numbers, const std::string& refusal);
  /** Ends the capture of a call that has thrown. */
  void CancelCapture();
  /** Returns the reason why a call with these arguments cannot be replayed, or empty. */
  std::string WhyNotReplayed(const std::vector<at::Tensor>& arguments) const;
  /**
   * Records a replay. Must be called only after `WhyNotReplayed` has returned an empty text.
   * @param numbers the numbers that change from replay to replay
   * @returns the results
   */
  std::vector<at::Tensor> Replay(const std::vector<at::Tensor>& arguments, const std::vector<double>& numbers);
  /** Forgets the captured calls and the program. */
  void Forget();

 private:
  struct Signature {
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
    c10::ScalarType dtype;
    c10::DispatchKeySet keys;
    /** The first argument that is the same tensor, and the first with the same memory. */
    size_t same;
    size_t memory;

    bool operator==(const Signature& other) const;
  };

  static Signature SignatureOf(const std::vector<at::Tensor>& arguments, size_t index);
  void Define();
  void NoteChanges(const std::vector<at::Tensor>& arguments) const;
  std::vector<at::Tensor> CreateResults(const std::vector<at::Tensor>& arguments, uint64_t base) const;

  std::shared_ptr<Recorder> recorder_;
  std::vector<Signature> signatures_;
  bool grad_mode_;
  std::shared_ptr<Capture> capture_;
  /** The tensors from outside that can have gradients, of the last capture. */
  std::vector<at::Tensor> leaves_;
  /** The last captured call that could be compared. */
  std::unique_ptr<CapturedCall> last_;
  /** The program of `last_` on the workers, or 0. */
  uint32_t program_ = 0;
  /** For each argument, whether calls with different tensors were equal. */
  std::vector<bool> varies_;
  /** The numbers of gradients that the workers know for the program. */
  std::vector<uint64_t> bound_;
};
