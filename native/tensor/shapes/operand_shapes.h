/**
 * Checks sizes and dimensions that CPU kernels check and kernels of device Meta accept. Invalid arguments thus fail
 * when they are recorded, at the call site of the program.
 */
#pragma once
#include <vector>

#include "libtorch/torch.h"

/**
 * A check of the arguments of a call, in the order of the schema.
 * @throws c10::Error if they are invalid
 */
using ShapeCheck = void (*)(const std::vector<c10::IValue>& arguments);

/** Returns the check of an operation, or null if libtorch's own checks suffice. */
ShapeCheck ShapeCheckOf(const c10::OperatorHandle& op);
