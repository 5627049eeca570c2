/**
 * The logs of a mesh: what all its ranks print, on one console and in files. Goes where `stdio` of `spawnProcs` goes, and
 * may be that of several meshes, whose lines are then folded together.
 */
import { type Clock, systemClock } from "../../link/clock.js";
import { BoundedOutput } from "../../proc/launch/bounded-output.js";
import type { LineOrigin } from "../../proc/launch/stdio.js";
import { describeValue } from "../../shape/index.js";
import { type PrintLine, SimilarLineFolder } from "./fold-lines.js";
import { LogFile } from "./log-file.js";
import { type LogLevel, logLevelOf, logLevels } from "./log-level.js";

export interface LogOptions {
  /** Lines of lower levels are left out of the console. Default `trace`: none is. */
  readonly level?: LogLevel;
  /** Milliseconds in which similar lines are folded into one with a count; 0: none are. Default 1,000. */
  readonly window?: number;
  /** `false`: nothing is printed. Default: to the outputs of this process. */
  readonly console?: boolean;
  /** A file that all lines are appended to, or a function that says which for each of them. Nothing is left out there. */
  readonly file?: string | ((origin: LineOrigin) => string);
}

/** What `stdio` takes. */
export interface Logs {
  (line: string, origin: LineOrigin): void;
  /** Prints what has been folded so far, and resolves when the files have been written. */
  flush(): Promise<void>;
}

/** For tests: where to print and by which clock. */
export interface LogEnvironment {
  readonly clock: Clock;
  readonly print: PrintLine;
  warn(message: string): void;
}

/** @throws TypeError, RangeError for options that make no sense */
export function logs(options: LogOptions = {}, environment: LogEnvironment = nodeEnvironment()): Logs {
  const { level = "trace", window = 1000, console = true, file } = options;
  if (!logLevels.includes(level)) throw optionError(TypeError, `a level of ${logLevels.join(", ")}`, level);
  if (!(typeof window === "number" && window >= 0))
    throw optionError(RangeError, "window in milliseconds, at least 0", window);
  if (file !== undefined && typeof file !== "string" && typeof file !== "function") {
    throw optionError(TypeError, "file as a path or a function", file);
  }
  const { clock, print, warn } = environment;
  const lowest = logLevels.indexOf(level);
  const folding = console && window > 0 ? new SimilarLineFolder(window, clock, print) : undefined;
  if (folding !== undefined) flushAtExit(folding);
  const files = new Map<string, LogFile>();

  const show = (line: string, origin: LineOrigin): void => {
    if (lowest > 0 && logLevels.indexOf(logLevelOf(line, origin.stream)) < lowest) return;
    if (folding !== undefined) folding.add(line, origin);
    else print(`[${origin.label}] ${line}`, origin.stream, origin.label);
  };
  const keep = (line: string, origin: LineOrigin): void => {
    const path = typeof file === "function" ? file(origin) : file!;
    let open = files.get(path);
    if (open === undefined) {
      open = new LogFile(path, clock, warn);
      files.set(path, open);
    }
    open.write(`${new Date(clock.wall()).toISOString()} [${origin.label}] ${line}\n`);
  };
  const take = (line: string, origin: LineOrigin): void => {
    if (console) show(line, origin);
    if (file !== undefined) keep(line, origin);
  };
  const flush = async (): Promise<void> => {
    folding?.flush();
    await Promise.all([...files.values()].map((open) => open.close()));
  };
  return Object.assign(take, { flush });
}

/** What is being folded when this process ends. */
let foldersToFlush: SimilarLineFolder[] | undefined;

function flushAtExit(folding: SimilarLineFolder): void {
  if (foldersToFlush === undefined) {
    foldersToFlush = [];
    process.once("exit", () => {
      for (const one of foldersToFlush ?? []) one.flush();
    });
  }
  foldersToFlush.push(folding);
}

function nodeEnvironment(): LogEnvironment {
  const outputs = { stdout: new BoundedOutput(process.stdout), stderr: new BoundedOutput(process.stderr) };
  return {
    clock: systemClock,
    print: (text, stream, label) => outputs[stream].write(`${text}\n`, label),
    warn: (message) => process.emitWarning(message, "ViceroyLogs"),
  };
}

function optionError(error: typeof TypeError | typeof RangeError, expected: string, got: unknown): Error {
  return new error(`cannot keep logs: expected ${expected}, got ${describeValue(got)}`);
}
