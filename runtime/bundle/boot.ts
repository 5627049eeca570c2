/**
 * The entry point of child processes, threads and controllers, built as `dist/boot.cjs`. User code is loaded later, after
 * the link has been opened.
 */
import { controllerArgument } from "../host/hand-over/controller-messages.js";
import { load } from "./load.js";

// Processes have arguments, threads have none. `isMainThread` would load modules of Node.js that most child processes do not need.
const runtime = load(process.argv.length > 2 ? "child" : "thread");
if (process.argv[2] === controllerArgument) runtime.controller.runController();
else runtime.boot.boot();
