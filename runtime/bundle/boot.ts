/**
 * The entry point of child processes, threads and controllers, built as `dist/boot.cjs`. User code is loaded later, after
 * the link has been opened.
 */
import { isMainThread } from "node:worker_threads";
import { load } from "./load.js";

const { boot, controller } = load(isMainThread ? "child" : "thread");
if (process.argv[2] === controller.controllerArgument) controller.runController();
else boot.boot();
