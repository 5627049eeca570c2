/**
 * What libtorch calls for operations on recorded tensors: one kernel for all of them. It computes shapes on device Meta, which has
 * no elements, gives results their numbers, and records. Autograd is above it and sees a device like any other.
 */
#pragma once

/** Registers the kernel, and those that device Meta lacks. Once for the process; idempotent. */
void RegisterKernels();
/** The kernels of device Meta that libtorch lacks: shapes.cc. */
void RegisterShapes();
