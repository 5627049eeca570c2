/**
 * The entry point of child processes and threads, built as `dist/boot.cjs`. User code is loaded later, after the link
 * has been opened.
 */
import { isMainThread } from "node:worker_threads";
import { load } from "./load.js";

load(isMainThread ? "child" : "thread").boot.boot();
