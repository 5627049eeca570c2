/**
 * The random numbers of this process. libtorch has one generator for CPU tensors of all threads, and one generator for
 * each CUDA device.
 */
#pragma once
#include <cstdint>

#include "libtorch/torch.h"

void SeedProcess(uint64_t seed, c10::Device device);
