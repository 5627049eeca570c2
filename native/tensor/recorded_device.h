/** The device that recorded tensors are on, as libtorch wants devices: there is one, with one stream, and nothing to wait for. */
#pragma once

/** Tells libtorch of it. Once for the process, before the first tensor is recorded. */
void RegisterRecordedDevice();
