#!/usr/bin/env node
/**
 * The command `viceroy`. `viceroy compile` is the most frequent command and usually has nothing to do, which this file
 * finds out by itself. It is built as a CommonJS module without shared parts, because Node.js takes as long to load
 * its loader of ES modules as to look at a thousand files.
 */
import { isUntouched } from "./compiler-package.js";
import { nothingToDo, processIo } from "./io.js";

const [, , ...args] = process.argv;
if (args.length === 1 && args[0] === "compile" && hasNothingToDo()) processIo.out(nothingToDo);
else void import("./command-line.js");

function hasNothingToDo(): boolean {
  try {
    return isUntouched();
  } catch {
    // The command finds the same error and reports it.
    return false;
  }
}
