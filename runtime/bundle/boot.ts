/**
 * The entry point of child processes and threads, built as `dist/boot.cjs`. User code is loaded later, after the link
 * has been opened.
 */
import { load } from "./load.js";

load("child").boot.boot();
