/**
 * The device of recorded tensors as libtorch expects devices: a single device with one stream, on which all operations
 * are complete immediately.
 */
#pragma once

/** Registers the device with libtorch. Called once per process, before the first tensor is recorded. */
void RegisterRecordedDevice();
