/**
 * Modules of Node.js that most processes never use. They are loaded on first use, because each of them takes half a
 * millisecond of the start of a process.
 */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export const lazyModules = {
  get childProcess(): typeof import("node:child_process") {
    return require("node:child_process");
  },
  get crypto(): typeof import("node:crypto") {
    return require("node:crypto");
  },
  get v8(): typeof import("node:v8") {
    return require("node:v8");
  },
  get vm(): typeof import("node:vm") {
    return require("node:vm");
  },
  get workerThreads(): typeof import("node:worker_threads") {
    return require("node:worker_threads");
  },
  get zlib(): typeof import("node:zlib") {
    return require("node:zlib");
  },
};
