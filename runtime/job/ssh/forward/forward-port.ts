/** Connections to ports that only another machine reaches, by one `ssh -W` for each of them. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { PausablePipe } from "../../../link/transport/pipe.js";
import { type ForwardTarget, forwardCommand } from "../ssh-command.js";
import { ChildPipe } from "./child-pipe.js";
import { forwardError } from "./forward-error.js";

/**
 * Connects to a port through a machine that `ssh` reaches. ssh logs in and connects later, so whatever keeps it from that ends the pipe.
 * @param signal aborts the attempt
 * @throws Error if there is no program ssh, or it cannot be started
 */
export function forwardPort(target: ForwardTarget, signal: AbortSignal): Promise<PausablePipe> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const [file, ...args] = forwardCommand(target);
    // Ctrl-C in a terminal goes to all programs of its session, and the driver still needs its connections to end in order.
    const child: ChildProcessWithoutNullStreams = spawn(file!, args, { stdio: "pipe", detached: true });
    child.once("error", (cause: NodeJS.ErrnoException) => {
      reject(cause.code === "ENOENT" ? new Error("there is no program ssh here; install ssh", { cause }) : cause);
    });
    child.once("spawn", () => {
      const pipe = new ChildPipe(child, (end) => forwardError(target, end));
      resolve(pipe);
      if (signal.aborted) pipe.destroy(signal.reason instanceof Error ? signal.reason : undefined);
    });
  });
}
