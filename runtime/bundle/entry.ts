/**
 * The content of the bundle of the runtime: all entry points of the package that have code, and the boot code of child
 * processes. The entry points of the package re-export from this bundle by name, so that they share one instance of the
 * runtime with each other and with user code (docs/decisions/0002).
 */
export * as codegenV1 from "../codegen/v1/index.js";
export * as daemon from "../host/daemon/run-host.js";
export * as controller from "../host/hand-over/controller.js";
export * as main from "../index.js";
export * as jobKernel from "../job/kernel.js";
export * as boot from "../proc/process/boot.js";
export * as rdma from "../rdma/index.js";
export * as syncKernel from "../sync/kernel.js";
export * as tasksKernel from "../tasks/kernel.js";
export * as kernel from "../testing/kernel.js";
