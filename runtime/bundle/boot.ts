/**
 * The entry point of child processes, threads and controllers, built as `dist/boot.cjs`. User code is loaded later, after
 * the link has been opened.
 */
import { isMainThread } from "node:worker_threads";
import { controllerArgument } from "../host/hand-over/controller-messages.js";
import { load } from "./load.js";

const runtime = load(isMainThread ? "child" : "thread");
if (process.argv[2] === controllerArgument) runtime.controller.runController();
else runtime.boot.boot();
