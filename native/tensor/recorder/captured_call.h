/**
 * A capture that has ended, in a form that does not depend on the numbers of tensors: commands contain slots
 * (commands/format.h). Two calls with the same captured form differ in nothing that workers or this process see.
 */
#pragma once
#include <string>
#include <unordered_set>
#include <vector>

#include "recorder/capture.h"

class Recorder;

/** A tensor that a replay creates in this process, without elements. */
struct TensorTemplate {
  /** The source of the storage of a tensor. */
  enum class Memory : uint8_t { own, argument, external, gradient };

  /** The index of its local. */
  size_t local;
  /** A tensor of device Meta. */
  at::Tensor shape;
  Memory memory;
  /** The argument, external or leaf with a gradient whose memory it shares; for `own`, the first result with the same
   * memory. */
  size_t source;
  /** The offset in the storage, for `argument` relative to the argument. */
  int64_t offset;
};

class CapturedCall {
 public:
  struct External {
    /** Undefined for a gradient, so that nothing but its leaf holds it. */
    at::Tensor tensor;
    /** The index of the leaf of a gradient. */
    size_t leaf;
    bool requires_grad;
    uint64_t shape_version;
    /** How often operations in place change the tensor. */
    uint32_t changes;
  };
  /** The relation of a call to the gradient of a tensor from outside. */
  enum class GradientUse : uint8_t {
    /** There is no gradient before and after the call. */
    absent,
    /** The call has nothing to do with the gradient. */
    unused,
    /** The call uses the gradient, and can change its elements or depend on which tensor it is. */
    used,
    /** The call replaces the gradient by a tensor that it creates. */
    replaced,
  };
  /** A tensor from outside that can have a gradient. */
  struct Leaf {
    at::Tensor tensor;
    GradientUse use;
    /** The number of a gradient that is used. */
    uint64_t gradient = 0;
    /** The index of the local that replaces the gradient, and its shape. */
    size_t local = 0;
    at::Tensor shape;

    bool replaced() const { return use == GradientUse::replaced; }
  };

  /**
   * @param results the tensors that the call returns, all of which it has created
   */
  CapturedCall(Recorder& recorder, Capture& capture, const std::vector<at::Tensor>& results);

  /** The reason why the call cannot be replayed, or empty. */
  std::string refusal;
  /** The tensors from outside that can get gradients, or whose gradients the code accesses, in the order of use. */
  std::vector<at::Tensor> leaves_used;
  std::vector<uint64_t> arguments;
  /** For each argument, how often operations in place change it. */
  std::vector<uint32_t> argument_changes;
  std::vector<External> externals;
  std::vector<Leaf> leaves;
  std::vector<TensorTemplate> results;
  size_t locals = 0;
  uint32_t numbers = 0;

  /** Returns a description of the first difference from an earlier call, or empty if they are equal. */
  std::string DifferenceFrom(Recorder& recorder, const CapturedCall& earlier) const;
  /** Returns the tensor of an external. For a gradient, the leaf must still have the gradient that it had. */
  const at::Tensor& TensorOf(const External& external) const {
    return external.tensor.defined() ? external.tensor : leaves[external.leaf].tensor.grad();
  }
  /** Returns whether an argument has the memory of a tensor from outside. */
  bool SharesExternalMemory(const at::Tensor& argument) const;
  /** Writes the definition of a program, without its number. */
  void WriteDefinition(Writer& out) const;

 private:
  uint64_t FirstGradient() const { return 1 + arguments.size() + externals.size(); }
  uint64_t FirstLocal() const;
  void Classify(const Capture& capture);
  void ClassifyLeaf(const Capture& capture, const Capture::Leaf& leaf);
  void TakeExternals(const Capture& capture);
  void TakeResults(const Capture& capture, const std::vector<at::Tensor>& tensors);
  void CheckSurvivors(Recorder& recorder, const Capture& capture);
  void ReplaceNumbers(const Capture& capture);
  void Refuse(const std::string& reason);
  std::string Describe(Recorder& recorder, size_t command) const;

  std::unordered_set<const void*> external_memory_;
  std::vector<uint8_t> bytes_;
  std::vector<size_t> references_;
  std::vector<Capture::CapturedCommand> commands_;
};
