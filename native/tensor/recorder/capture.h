/**
 * The commands of one call of a step, as they are recorded. A capture only observes: the commands are sent to the
 * workers as usual. `captured_call.h` compares two captures.
 */
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "recorder/writer.h"

class Reference;

/** The maximum size in bytes of the commands of a step that can be replayed. */
constexpr size_t kMaxCapturedBytes = 16 << 20;

class Capture {
 public:
  /** A tensor that exists before the call. */
  struct Outer {
    uint64_t number;
    /** Undefined for a gradient, because holding it would keep it alive. */
    at::Tensor tensor;
    /** The version of the tensor and of its shape when the call first used it. */
    uint32_t version;
    uint64_t shape_version;
    bool requires_grad;
  };
  /** A tensor that can have a gradient, and its gradient before the call. */
  struct Leaf {
    at::Tensor tensor;
    /** The number of the gradient, or 0 if there is none. */
    uint64_t gradient;
    /** Whether nothing but the tensor holds the gradient. */
    bool unshared;
  };
  struct CapturedCommand {
    /** The part of `bytes`. */
    size_t begin;
    size_t end;
    /** The end of its part of `references`. */
    size_t references_end;
    /** The operation of a call, or empty. */
    Optional<c10::OperatorHandle> op;
    uint32_t site;
  };
  struct Local {
    std::weak_ptr<Reference> reference;
    /** The index of the command that creates the tensor. */
    size_t command;
  };

  /** @param leaves the tensors whose gradients the call is expected to change */
  Capture(const std::vector<at::Tensor>& arguments, const std::vector<at::Tensor>& leaves);

  void Call(const c10::OperatorHandle& op, uint32_t number, uint32_t site, const std::vector<c10::IValue>& arguments,
            const std::vector<uint64_t>& results, bool marks_numbers);
  void Put(uint64_t number, const at::Tensor& tensor);
  void Seed(uint64_t seed, bool ranks);
  void NoteCreated(const std::shared_ptr<Reference>& reference);
  /** Notes that the call uses a tensor, if the tensor existed before the call. */
  void NoteUse(const at::Tensor& tensor);
  /** States the reason why the call cannot be replayed. The first reason counts. */
  void Refuse(const std::string& reason);

  /** The reason why the call cannot be replayed, or empty. */
  std::string refusal;
  std::vector<Outer> arguments;
  std::vector<Leaf> leaves;
  /** In the order in which the call uses them first. */
  std::vector<Outer> outers;
  /** The numbers of the tensors whose gradients the code has read or set. */
  std::unordered_set<uint64_t> gradients_accessed;
  std::vector<Local> locals;
  std::unordered_map<uint64_t, size_t> local_indices;
  std::vector<CapturedCommand> commands;
  std::vector<size_t> references;
  /** The number of numbers that change from replay to replay. */
  uint32_t numbers = 0;
  std::vector<uint8_t> TakeBytes() { return out_.Take(); }

 private:
  void Begin();
  void End(Optional<c10::OperatorHandle> op, uint32_t site);
  void Create(uint64_t number);
  void Argument(const c10::IValue& value, bool marks_numbers);

  Writer out_;
  size_t begin_ = 0;
  /** The indices of arguments, and those of outers, by number. */
  std::unordered_map<uint64_t, size_t> argument_indices_;
  std::unordered_map<uint64_t, size_t> outer_indices_;
};

/**
 * Returns whether only one object refers to a recorded gradient, and nothing has the same memory. Otherwise, other code
 * would see the elements that a replay computes.
 */
bool IsUnshared(const at::Tensor& gradient);
/** Returns the tensor's current state as one that exists before a call. */
Capture::Outer OuterOf(const at::Tensor& tensor);
