/**
 * The device of a worker's tensors: the CPU, or one CUDA device. Only device-independent interfaces of libtorch are
 * used, so that the same source compiles against libtorch with and without CUDA.
 */
#pragma once
#include <cstdint>
#include <string>

#include "libtorch/torch.h"

/**
 * @param name `cpu`, `cuda`, or for example `cuda:1`
 * @param rank selects the device for `cuda`: the rank modulo the number of devices
 * @throws std::runtime_error if the device does not exist or cannot be used
 */
c10::Device DeviceNamed(const std::string& name, uint64_t rank);
/** Returns the path of the libtorch that the addon is linked to, or an empty text if it is unknown. */
std::string LibtorchFile();
/** Selects the device for this thread. */
void UseDevice(c10::Device device);
/** Returns whether the device has completed all operations that this thread has enqueued. */
bool IsIdle(c10::Device device);
