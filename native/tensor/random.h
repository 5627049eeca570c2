/** The random numbers of this process: libtorch has one generator for all of them, also those of worker threads. */
#pragma once
#include <cstdint>

void SeedProcess(uint64_t seed);
