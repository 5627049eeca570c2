/**
 * The kernel that libtorch calls for all operations on recorded tensors. It computes the shapes of the results on
 * device Meta, assigns numbers to the results, and records the call. Autograd runs above it, as for any other device.
 */
#pragma once

/** Registers this kernel and the kernels that device Meta lacks. Idempotent. */
void RegisterKernels();
