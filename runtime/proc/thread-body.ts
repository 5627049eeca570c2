/** A worker thread as the body of a proc: it runs the same boot file as a process does, linked by a MessagePort. */
import type { MessagePort, Worker } from "node:worker_threads";
import { builtins } from "../builtins.js";
import type { Body, Identity } from "./body.js";
import { describeThreadEnd } from "./end.js";
import { portPipe } from "./port-pipe.js";
import { forEachLine, forwardLines, type Stdio } from "./stdio.js";
import type { ThreadFatal } from "./unasked-exit.js";

/** What a worker thread finds as its `workerData`. */
export interface ThreadData {
  readonly viceroy: Identity;
  readonly port: MessagePort;
}

export interface ThreadOptions {
  readonly bootFile: string;
  readonly identity: Identity;
  readonly env: NodeJS.ProcessEnv;
  readonly stdio: Stdio;
  readonly label: string;
  readonly rank: number;
}

export function threadBody(options: ThreadOptions): Body {
  const { MessageChannel, Worker } = builtins.workerThreads;
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(options.bootFile, {
    workerData: { viceroy: options.identity, port: port2 },
    transferList: [port2],
    env: options.env,
    name: options.label,
  });
  const { threadId } = worker;
  forwardOutput(worker, options);
  let fatal: string | undefined;
  worker.on("message", (message: Partial<ThreadFatal> | null) => {
    fatal = message?.viceroyFatal ?? fatal;
  });
  // After the listener above: listening to messages makes Node.js wait for the thread again.
  worker.unref();
  let uncaught: unknown;
  worker.once("error", (error) => {
    uncaught = error;
  });
  const code = new Promise<number>((resolve) => worker.once("exit", resolve));
  const ended = code.then((value) => describeThreadEnd(threadId, value, uncaught, fatal));
  const kill = () => void worker.terminate();
  return { pipe: portPipe(port1), ended, finished: ended, ref: () => worker.ref(), terminate: kill, kill };
}

/**
 * Takes the outputs of the thread from where Node.js sends them, which is to those of this process. The constructor's options `stdout`
 * and `stderr` would do so from the beginning, but reading such an output keeps this process alive until the thread ends.
 */
function forwardOutput(worker: Worker, { stdio, label, rank }: ThreadOptions): void {
  if (stdio === "inherit") return;
  for (const stream of ["stdout", "stderr"] as const) {
    const source = worker[stream];
    source.unpipe(process[stream]);
    if (stdio === "prefix") forwardLines(source, process[stream], label);
    else if (stdio !== "ignore") forEachLine(source, (bytes) => stdio(bytes.toString(), { stream, label, rank }));
    // Without a target it is paused.
    source.resume();
  }
}
