/**
 * Starts one operating-system process and reports how it ends. The process leads its own process group, so that
 * everything that it starts can be ended with it. It shares a socket pair with this process, its file descriptor 3,
 * which carries the link from the start. The boot file decides what runs in the process; its agent handles the
 * messages.
 */
import type { ChildProcess } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { Socket } from "node:net";
import { delimiter, join } from "node:path";
import type { Readable } from "node:stream";
import { lazyModules } from "../../lazy-modules.js";
import type { OrphanReaper } from "./orphan-reaper.js";
import { forEachLine, forwardLines, StderrTail, type Stdio } from "./stdio.js";

export interface LaunchOptions {
  /** The script and its arguments. */
  readonly command: readonly string[];
  readonly execArgv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly stdio: Stdio;
  readonly label: string;
  readonly rank: number;
  /** A list of processors in the notation of `taskset -c`: `0-3,8`. */
  readonly cpus?: string | undefined;
  /** The working directory; undefined selects that of this process. */
  readonly cwd?: string | undefined;
  readonly reaper: OrphanReaper;
}

/** The exit status of a process. */
export interface ExitStatus {
  readonly code: number | undefined;
  readonly signal: string | undefined;
  /** The error if the process never started. */
  readonly error: Error | undefined;
  /** The last lines of its standard error. */
  readonly stderr: Pick<StderrTail, "lines" | "fatal">;
}

/** A running child process with its link socket. None of its handles keeps this process alive. */
export interface LaunchedProcess {
  /** The process id, or undefined if the process could not be started. */
  readonly pid: number | undefined;
  readonly socket: Socket;
  /**
   * Resolves when the process has been reaped and its output was read, or `outputGrace` later if a descendant keeps the
   * output open.
   */
  readonly outputEnded: Promise<ExitStatus>;
  /** Resolves with the exit status as soon as it is known. */
  readonly exited: Promise<ExitStatus>;
  /** Keeps this process alive until the child has ended. */
  ref(): void;
  /** Sends a signal to the process; SIGKILL goes to its whole group. No effect after the exit. */
  kill(signal: NodeJS.Signals): void;
}

/** Time in ms for which output may stay open after the exit of a process. A descendant may hold it open for ever. */
const outputGrace = 1000;

/** A process that was started, of which nobody has taken the output yet. */
export interface StartedProcess {
  readonly pid: number | undefined;
  /** Undefined if the process could not be started. */
  readonly child: ChildProcess | undefined;
  readonly error?: Error;
}

/**
 * Starts a process. If the start fails, the exit status contains the error.
 * @throws Error if `cpus` is malformed or this system cannot bind a process to processors
 */
export function launchProcess(options: LaunchOptions): LaunchedProcess {
  const { stdio } = options;
  return adoptProcess(
    startProcess({ ...options, stdio: stdio === "inherit" || stdio === "ignore" ? stdio : "pipe" }),
    options,
  );
}

/** Starts a process, whose output waits. @throws Error as `launchProcess` does */
export function startProcess(
  options: Pick<LaunchOptions, "command" | "execArgv" | "env" | "cpus" | "cwd"> & {
    readonly stdio: "inherit" | "ignore" | "pipe";
  },
): StartedProcess {
  const { stdio: output, execArgv, command } = options;
  const argv = [...execArgv, ...command];
  const [file, ...args] =
    options.cpus === undefined ? [process.execPath, ...argv] : withCpuAffinity(options.cpus, argv);
  try {
    const child = lazyModules.childProcess.spawn(file!, args, {
      env: options.env,
      cwd: options.cwd,
      detached: true,
      stdio: ["ignore", output, output === "inherit" ? "inherit" : "pipe", "pipe"],
    });
    child.unref();
    return { pid: child.pid, child };
  } catch (error) {
    return { pid: undefined, child: undefined, error: error as Error };
  }
}

/** Takes a process that was started: forwards its output, and observes its end. */
export function adoptProcess({ pid, child, error }: StartedProcess, options: LaunchOptions): LaunchedProcess {
  if (child === undefined) return failedLaunch(error!);
  if (pid !== undefined) options.reaper.add(pid);
  const tail = new StderrTail();
  forwardOutput(child, options, tail);
  const exited = exitStatusOf(child, tail, () => {
    if (pid === undefined) return;
    killProcessGroup(pid);
    options.reaper.remove(pid);
  });
  return {
    pid,
    socket: (child.stdio?.[3] as Socket | undefined) ?? new Socket().destroy(),
    exited,
    outputEnded: exited.then((end) => outputClosed(child).then(() => end)),
    ref: () => child.ref(),
    kill(signal) {
      if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      if (signal === "SIGKILL") killProcessGroup(pid);
      else child.kill(signal);
    },
  };
}

/** Represents a failed start. Node.js throws some start errors and emits others; the callers see only one form. */
function failedLaunch(error: Error): LaunchedProcess {
  const exited = Promise.resolve({ code: undefined, signal: undefined, error, stderr: new StderrTail() });
  return { pid: undefined, socket: new Socket().destroy(), exited, outputEnded: exited, ref() {}, kill() {} };
}

function exitStatusOf(child: ChildProcess, tail: StderrTail, reaped: () => void): Promise<ExitStatus> {
  return new Promise((resolve) => {
    const end = (code: number | null, signal: string | null, error?: Error) => {
      resolve({ code: code ?? undefined, signal: signal ?? undefined, error, stderr: tail });
    };
    child.once("error", (error) => end(null, null, error));
    child.once("exit", (code, signal) => {
      reaped();
      end(code, signal);
    });
  });
}

/** Kills the processes that the child has started and left running. */
function killProcessGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // The group is empty: the child left no processes.
  }
}

function forwardOutput(child: ChildProcess, options: LaunchOptions, tail: StderrTail): void {
  const { stdio, label, rank } = options;
  if (child.stderr) forEachLine(child.stderr, (bytes) => tail.push(bytes));
  for (const stream of ["stdout", "stderr"] as const) {
    const source = child[stream];
    if (!source) continue;
    unrefStream(source);
    // A spare has pipes, whatever becomes of its output.
    if (stdio === "ignore" && stream === "stdout") source.resume();
    else if (stdio === "prefix") forwardLines(source, process[stream], label);
    else if (typeof stdio === "function") {
      const origin = { stream, label, rank };
      forEachLine(source, (bytes) => stdio(bytes.toString(), origin));
    }
  }
}

/** Lets this process end although the stream is being read. */
function unrefStream(stream: Readable): void {
  (stream as unknown as { unref?: () => void }).unref?.();
}

async function outputClosed(child: ChildProcess): Promise<void> {
  const open = [child.stdout, child.stderr].filter((stream) => stream && !stream.closed);
  if (open.length === 0) return;
  await new Promise<void>((resolve) => {
    let left = open.length;
    const timer = setTimeout(resolve, outputGrace);
    for (const stream of open) {
      stream!.once("close", () => {
        if (--left > 0) return;
        clearTimeout(timer);
        resolve();
      });
    }
  });
}

let taskset: string | false | undefined;

function findTaskset(): string | false {
  for (const directory of (process.env["PATH"] ?? "/usr/bin:/bin").split(delimiter)) {
    const file = join(directory, "taskset");
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // The directory does not contain the program; the loop tries the next one.
    }
  }
  return false;
}

const cpuList = /^\d+(?:-\d+(?::\d+)?)?(?:,\d+(?:-\d+(?::\d+)?)?)*$/;

/** @throws TypeError if the list is malformed */
export function checkCpuList(cpus: string): void {
  if (cpuList.test(cpus)) return;
  throw new TypeError(`cannot bind a process to processors: expected a list like "0-3,8", got ${JSON.stringify(cpus)}`);
}

/** @throws Error if the list is malformed or this system cannot bind a process to processors */
export function checkCpuAffinity(cpus: string): void {
  checkCpuList(cpus);
  taskset ??= findTaskset();
  if (taskset === false) {
    throw new Error(`cannot bind a process to processors: this system has no taskset command, got cpus ${cpus}`);
  }
}

function withCpuAffinity(cpus: string, argv: readonly string[]): string[] {
  checkCpuAffinity(cpus);
  return [taskset as string, "-c", cpus, process.execPath, ...argv];
}
