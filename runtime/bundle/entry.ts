/**
 * What the one bundle of the runtime holds: every entry point of the package that has code, and what a child process
 * starts with. The entry points of the package re-export from here by name, so that all of them, and user code, share
 * one instance (docs/decisions/0002).
 */
export * as codegenV1 from "../codegen/v1/index.js";
export * as daemon from "../host/daemon/run-host.js";
export * as main from "../index.js";
export * as boot from "../proc/process/boot.js";
export * as rdma from "../rdma/index.js";
export * as kernel from "../testing/kernel.js";
