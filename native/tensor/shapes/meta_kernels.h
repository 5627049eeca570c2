/** The kernels of device Meta that libtorch lacks. */
#pragma once

/** Registers the kernels. Called once per process. */
void RegisterMetaKernels();
