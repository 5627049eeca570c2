/**
 * Exports what only some processes need of the runtime: the code of programs that spawn meshes, of hosts, and of registered memory. It becomes the
 * file `dist/runtime-rest.cjs`, which processes load on first use.
 */
export * as daemon from "../host/daemon/run-host.js";
export * as controller from "../host/hand-over/controller.js";
export * as main from "../index.js";
export * as jobKernel from "../job/kernel.js";
export * as rdma from "../rdma/index.js";
export * as syncKernel from "../sync/kernel.js";
export * as tasksKernel from "../tasks/kernel.js";
export * as kernel from "../testing/kernel.js";
