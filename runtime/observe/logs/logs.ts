/**
 * `logs`: prints the output of all ranks of a mesh on one console and writes it to files. The result is a value for the
 * option `stdio` of `spawnProcs`. Several meshes can share it; their lines are then folded together.
 */
import { describeValue } from "../../../shared/text/describe-value.js";
import { type Clock, systemClock } from "../../link/clock.js";
import { BoundedOutput } from "../../proc/launch/bounded-output.js";
import type { LineOrigin } from "../../proc/launch/stdio.js";
import { type PrintLine, SimilarLineFolder } from "./fold-lines.js";
import { LogFile } from "./log-file.js";
import { type LogLevel, logLevelOf, logLevels } from "./log-level.js";

/** The options of {@link logs}. */
export interface LogOptions {
  /** The lowest level that is printed on the console. Default: `"trace"`, which prints every line. */
  readonly level?: LogLevel;
  /**
   * The time in which similar lines are folded into one line with a count, in milliseconds, from 0. With 0, no lines
   * are folded. Default: 1,000.
   */
  readonly window?: number;
  /** Whether lines are printed to the outputs of this process. Default: true. */
  readonly console?: boolean;
  /**
   * The path of a file to which all lines are appended, whatever their level, or a function that returns the path for
   * each line. Default: no file.
   */
  readonly file?: string | ((origin: LineOrigin) => string);
}

/** A destination for the output of meshes: a value of the option `stdio` of `spawnProcs`. */
export interface Logs {
  /**
   * Takes one line.
   *
   * @param line without its line break
   * @param origin the proc that printed the line
   */
  (line: string, origin: LineOrigin): void;
  /**
   * Prints the lines that have been folded so far.
   *
   * @returns a promise that resolves when the files have been written
   */
  flush(): Promise<void>;
}

/** The surroundings of {@link logs}, which tests replace. */
export interface LogEnvironment {
  readonly clock: Clock;
  readonly print: PrintLine;
  warn(message: string): void;
}

/**
 * Returns a destination for the output of meshes, which folds similar lines, filters them by level and writes them to
 * files. Several meshes can share it; their lines are then folded together.
 *
 * @example
 * ```ts
 * import { logs, thisHost } from "viceroy";
 *
 * const output = logs({ level: "info", file: (origin) => `logs/rank-${origin.rank}.log` });
 * await using procs = thisHost().spawnProcs({ gpus: 4 }, { stdio: output });
 * ```
 *
 * @param options filters and files
 * @param environment the clock and the outputs, for tests
 * @throws {TypeError} when an option is malformed
 * @throws {RangeError} when `window` is negative
 */
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
    open.write(`${new Date(clock.epochMs()).toISOString()} [${origin.label}] ${line}\n`);
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

/** The folders that are flushed at the end of this process. */
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
