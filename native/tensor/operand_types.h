/**
 * Which types of elements an operation takes. Kernels of device Meta tell shapes and mostly do not ask; those of processors do, after
 * the line that is wrong has long been left.
 */
#pragma once
#include <vector>

#include "torch.h"

/** What is asked of some of an operation's arguments. */
struct TypeRule {
  enum class Asked {
    /** All of one type. */
    same,
    /** So, but floating-point numbers of 16 bits go with those of 32. */
    sameOrWider,
    /** Numbers with a fraction, or complex ones. */
    floating,
    /** Whole numbers, or truth values. */
    whole,
    /** Truth values. */
    condition,
    /** Whole numbers of 64 bits. */
    index,
    /** Whole numbers of 32 or 64 bits. */
    anyIndex,
  };
  Asked asked;
  std::vector<size_t> parameters;
};

/** The name of an operation without namespace, and without the `_` of one in place. */
std::string NameInPlace(const c10::OperatorHandle& op);
/** The rules for an operation: for most, none. */
std::vector<TypeRule> TypeRulesOf(const c10::OperatorHandle& op);
/** @throws c10::Error that names the arguments whose types do not fit */
void CheckTypes(const c10::OperatorHandle& op, const std::vector<TypeRule>& rules, const std::vector<c10::IValue>& arguments);
