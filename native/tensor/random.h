/**
 * The random numbers of this process: libtorch has one generator for all of them on processors, also those of worker threads, and one for each
 * device of CUDA.
 */
#pragma once
#include <cstdint>

#include "torch.h"

void SeedProcess(uint64_t seed, c10::Device device);
