/**
 * The device that a worker's tensors are on: processors, or one graphics processor of CUDA. Only what libtorch has for all of its devices is
 * used, so that the same source is compiled against a libtorch with CUDA and against one without.
 */
#pragma once
#include <cstdint>
#include <string>

#include "torch.h"

/**
 * @param name `cpu`, `cuda`, `cuda:1`
 * @param rank which one `cuda` alone is: this modulo how many the process sees
 * @throws std::runtime_error that says what was found instead
 */
c10::Device DeviceNamed(const std::string& name, uint64_t rank);
/** Of the libtorch that the addon is linked to; empty where the system does not tell. */
std::string FileOfTorch();
/** What this thread does from here on is done there. */
void UseDevice(c10::Device device);
/** Whether it has done all that this thread has had it do. */
bool IsIdle(c10::Device device);
