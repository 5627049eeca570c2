/** Runs a command of a driver on this machine: in a process group of its own, which ends as a whole. */
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import type { CommandEvent, CommandOrder } from "../../../generated/host-agent.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import { lazyModules } from "../../lazy-modules.js";
import type { OrphanReaper } from "../../proc/launch/orphan-reaper.js";
import { gpusOfCommand } from "./host-gpus.js";

/** A command that runs. */
export interface RunningCommand {
  /** The output of the command, and then its end. */
  readonly events: AsyncIterable<CommandEvent>;
  /** Resolves when the command has ended, also if nobody reads the events. */
  readonly exited: Promise<void>;
  /** Ends the command. Its events go on until it has ended. @param grace time in ms between SIGTERM and SIGKILL */
  readonly end: (grace: number) => void;
}

/** Time in ms for a command to end after SIGTERM, before SIGKILL. */
const graceMs = 1000;

/** Maximum number of chunks of output that wait for the reader. The command waits then, too. */
const maxWaiting = 16;

/** The exit code of a command that could not be started, as shells have it. */
const notStarted = 127;

/**
 * @param signal ends the command and what it has started in its group
 * @param reaper ends the group when this process has been killed
 */
export function runCommand(order: CommandOrder, signal: AbortSignal, reaper: OrphanReaper): RunningCommand {
  try {
    return startCommand(order, gpusOfCommand(order.gpus, process.env), signal, reaper);
  } catch (error) {
    return notStartedCommand(errorMessage(error));
  }
}

/** Returns a command that has ended before it began. */
function notStartedCommand(error: string): RunningCommand {
  async function* events(): AsyncGenerator<CommandEvent, void> {
    yield { exitCode: notStarted, error };
  }
  return { events: events(), exited: Promise.resolve(), end: () => {} };
}

function startCommand(
  { command, env, cwd }: CommandOrder,
  gpus: Readonly<Record<string, string>>,
  signal: AbortSignal,
  reaper: OrphanReaper,
): RunningCommand {
  const [file = "", ...args] = command;
  const child = lazyModules.childProcess.spawn(file, args, {
    cwd,
    env: { ...process.env, ...gpus, ...env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { pid } = child;
  if (pid !== undefined) reaper.add(pid);
  const end = new Promise<CommandEvent>((resolve) => {
    child.once("error", ({ message }) => resolve({ exitCode: notStarted, error: describeStart(message, cwd) }));
    child.once("close", (code, by) => resolve({ exitCode: code ?? 128 + constants.signals[by!] }));
  });
  let killing: NodeJS.Timeout | undefined;
  const endIn = (grace: number): void => {
    clearTimeout(killing);
    killing = endGroup(child, grace);
  };
  // What the command has started may hold its outputs open, so that they would never be closed. A longer grace ends here,
  // because the system can use the id of a group again that has ended.
  child.once("exit", () => endIn(graceMs));
  const stop = () => {
    ignoreOutput(child);
    endIn(graceMs);
  };
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  const exited = end.then(() => {
    signal.removeEventListener("abort", stop);
    if (pid !== undefined) reaper.remove(pid);
  });
  return { events: readEvents(child, end, stop), exited, end: endIn };
}

async function* readEvents(
  child: ChildProcess,
  end: Promise<CommandEvent>,
  stop: () => void,
): AsyncGenerator<CommandEvent, void> {
  const waiting: CommandEvent[] = [];
  let wake = (): void => {};
  const streams = { stdout: child.stdout!, stderr: child.stderr! };
  for (const [name, stream] of Object.entries(streams)) {
    stream.on("data", (bytes: Buffer) => {
      waiting.push({ [name]: bytes });
      if (waiting.length >= maxWaiting) for (const each of Object.values(streams)) each.pause();
      wake();
    });
  }
  let last: CommandEvent | undefined;
  void end.then((event) => {
    last = event;
    wake();
  });
  try {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) yield next;
      else if (last !== undefined) return yield last;
      else {
        for (const each of Object.values(streams)) each.resume();
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    if (last === undefined) stop();
  }
}

/** Nobody reads the output any more. */
function ignoreOutput({ stdout, stderr }: ChildProcess): void {
  for (const stream of [stdout!, stderr!]) stream.removeAllListeners("data").resume();
}

/** Ends the group of a command: SIGTERM, then SIGKILL. @returns the timer of SIGKILL; undefined if no process is left */
function endGroup({ pid }: ChildProcess, grace: number): NodeJS.Timeout | undefined {
  if (pid === undefined || !sendToGroup(pid, "SIGTERM")) return undefined;
  return setTimeout(() => sendToGroup(pid, "SIGKILL"), grace);
}

/** Node.js reports a working directory that does not exist as if the program did not. */
function describeStart(message: string, cwd: string | undefined): string {
  return cwd === undefined || existsSync(cwd) ? message : `the working directory ${cwd} does not exist on this host`;
}

/** @returns whether the group has processes */
function sendToGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}
