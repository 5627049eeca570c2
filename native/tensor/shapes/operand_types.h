/**
 * The types of elements that operations accept. Kernels of device Meta mostly do not check types. CPU kernels do, but
 * only on the workers, after the program has continued past the call site.
 */
#pragma once
#include <vector>

#include "libtorch/torch.h"

/** A requirement for some of the arguments of an operation. */
struct TypeRule {
  enum class Requirement {
    /** All arguments have the same type. */
    same,
    /** All arguments have the same type, but float32 parameters are allowed for inputs of 16 bits. */
    sameOrWider,
    /** Floating-point or complex numbers. */
    floating,
    /** Integers or booleans. */
    whole,
    /** Booleans. */
    condition,
    /** Integers of 64 bits. */
    index,
    /** Integers of 32 or 64 bits. */
    anyIndex,
  };
  Requirement requirement;
  std::vector<size_t> parameters;
};

/** Returns the name of an operation without its namespace, and without the `_` of an in-place variant. */
std::string NameInPlace(const c10::OperatorHandle& op);
/** Returns the rules of an operation, which are empty for most operations. */
std::vector<TypeRule> TypeRulesOf(const c10::OperatorHandle& op);
/** @throws c10::Error that names the arguments whose types are wrong */
void CheckTypes(const c10::OperatorHandle& op, const std::vector<TypeRule>& rules,
                const std::vector<c10::IValue>& arguments);
