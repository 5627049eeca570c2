/** Runs a command of a driver on this machine: in a process group of its own, which ends as a whole. */
import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import type { CommandEvent, CommandOrder } from "../../../generated/host-agent.js";
import { lazyModules } from "../../lazy-modules.js";

/** A command that runs. */
export interface RunningCommand {
  /** The output of the command, and then its end. */
  readonly events: AsyncIterable<CommandEvent>;
  /** Resolves when the command has ended, also if nobody reads the events. */
  readonly exited: Promise<void>;
}

/** Time in ms for a command to end after SIGTERM, before SIGKILL. */
const graceMs = 1000;

/** Maximum number of chunks of output that wait for the reader. The command waits then, too. */
const maxWaiting = 16;

/** The exit code of a command that could not be started, as shells have it. */
const notStarted = 127;

/** @param signal ends the command and what it has started in its group */
export function runCommand({ command }: CommandOrder, signal: AbortSignal): RunningCommand {
  const [file = "", ...args] = command;
  const child = lazyModules.childProcess.spawn(file, args, { detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const end = new Promise<CommandEvent>((resolve) => {
    child.once("error", ({ message }) => resolve({ exitCode: notStarted, error: message }));
    child.once("close", (code, by) => resolve({ exitCode: code ?? 128 + constants.signals[by!] }));
  });
  const stop = () => stopGroup(child);
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  const exited = end.then(() => signal.removeEventListener("abort", stop));
  return { events: readEvents(child, end, stop), exited };
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

/** Ends the group of a command: SIGTERM, then SIGKILL. Nobody reads its output any more. */
function stopGroup({ pid, stdout, stderr }: ChildProcess): void {
  for (const stream of [stdout!, stderr!]) stream.removeAllListeners("data").resume();
  if (pid === undefined) return;
  sendToGroup(pid, "SIGTERM");
  setTimeout(() => sendToGroup(pid, "SIGKILL"), graceMs);
}

function sendToGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}
