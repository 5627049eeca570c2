/**
 * Arguments whose sizes or dimensions the kernels of device Meta take as they come, and those of processors do not: refused where they are
 * recorded, on the line of the program that is wrong.
 */
#pragma once
#include <vector>

#include "torch.h"

/** @throws c10::Error that says what does not fit; `arguments` in the order of the schema */
using ShapeCheck = void (*)(const std::vector<c10::IValue>& arguments);

/** Null: nothing is checked beside what libtorch checks itself. */
ShapeCheck ShapeCheckOf(const c10::OperatorHandle& op);
