#!/usr/bin/env node
/**
 * The command `viceroy`. `viceroy compile` is the most frequent command and usually has nothing to do, which this file
 * finds out by itself. It is built as a CommonJS module without shared parts, because Node.js takes as long to load
 * its loader of ES modules as to look at a thousand files.
 */
import { writeSync } from "node:fs";
import { isUntouched } from "./compiler-package.js";
import { nothingToDo } from "./io.js";

const [, , ...args] = process.argv;
if (args.length === 1 && args[0] === "compile" && hasNothingToDo()) sayNothingToDo();
else void import("./command-line.js");

function hasNothingToDo(): boolean {
  try {
    return isUntouched();
  } catch {
    // The command finds the same error and reports it.
    return false;
  }
}

/** Writes without `process.stdout`, whose streams take a tenth of the time that this command takes. */
function sayNothingToDo(): void {
  try {
    writeSync(1, `${nothingToDo}\n`);
  } catch (error) {
    // A closed pipe, such as that of `head`, is not an error.
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") process.stdout.write(`${nothingToDo}\n`);
  }
}
