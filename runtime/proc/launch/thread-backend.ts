/** A worker thread as the backend of a proc. It runs the same boot file as a process, and its link is a MessagePort. */
import type { MessagePort, Worker, WorkerOptions } from "node:worker_threads";
import { lazyModules } from "../../lazy-modules.js";
import { messagePortPipe } from "../../link/transport/thread/pipe.js";
import type { ThreadFatalMessage } from "../platform/unexpected-exit.js";
import { describeThreadExit } from "./describe-exit.js";
import type { ProcBackend, ProcIdentity } from "./proc-backend.js";
import { forEachLine, forwardLines, type Stdio } from "./stdio.js";

/** The `workerData` of a worker thread. */
export interface ThreadData {
  readonly viceroy: ProcIdentity;
  readonly port: MessagePort;
}

export interface ThreadBackendOptions {
  readonly bootFile: string;
  readonly identity: ProcIdentity;
  readonly env: NodeJS.ProcessEnv;
  /** The options of Node.js; undefined selects those of this process. */
  readonly execArgv: readonly string[] | undefined;
  readonly stdio: Stdio;
  readonly label: string;
  readonly rank: number;
}

/** Time in ms for the last messages of a thread that has ended. Nothing delivers them if nobody reads the port. */
const deliveryMs = 1000;

/** Starts a worker thread for a proc. A thread gets no signals: `terminate` kills it. */
export function threadBackend(options: ThreadBackendOptions): ProcBackend {
  const { MessageChannel } = lazyModules.workerThreads;
  const { port1, port2 } = new MessageChannel();
  const worker = startWorker(options.bootFile, options.execArgv, {
    workerData: { viceroy: options.identity, port: port2 },
    transferList: [port2],
    env: options.env,
    name: options.label,
  });
  const { threadId } = worker;
  forwardOutput(worker, options);
  let fatal: string | undefined;
  worker.on("message", (message: Partial<ThreadFatalMessage> | null) => {
    fatal = message?.viceroyFatal ?? fatal;
  });
  // After the listener above, because listening to messages makes Node.js wait for the thread again.
  worker.unref();
  let uncaught: unknown;
  worker.once("error", (error) => {
    uncaught = error;
  });
  const code = new Promise<number>((resolve) => worker.once("exit", resolve));
  const delivered = new Promise<void>((resolve) => port1.once("close", () => resolve()));
  // Node.js can report the end of a thread before it delivers the last messages of the thread.
  const exited = code
    .then((value) => Promise.race([delivered, atLatest(deliveryMs)]).then(() => value))
    .then((value) => describeThreadExit(threadId, value, uncaught, fatal));
  const kill = () => void worker.terminate();
  return {
    pipe: messagePortPipe(port1),
    exited,
    outputEnded: exited,
    ref: () => worker.ref(),
    terminate: kill,
    kill,
  };
}

function atLatest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** Starts a thread. Node.js refuses options that concern the whole process; the thread then inherits all options. */
function startWorker(file: string, execArgv: readonly string[] | undefined, options: WorkerOptions): Worker {
  const { Worker } = lazyModules.workerThreads;
  if (execArgv === undefined) return new Worker(file, options);
  try {
    return new Worker(file, { ...options, execArgv: [...execArgv] });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_WORKER_INVALID_EXEC_ARGV") throw error;
    return new Worker(file, options);
  }
}

/**
 * Redirects the outputs of the thread, which Node.js forwards to those of this process. The constructor's options
 * `stdout` and `stderr` would do so from the start, but reading such an output keeps this process alive until the
 * thread ends.
 */
function forwardOutput(worker: Worker, { stdio, label, rank }: ThreadBackendOptions): void {
  if (stdio === "inherit") return;
  for (const stream of ["stdout", "stderr"] as const) {
    const source = worker[stream];
    source.unpipe(process[stream]);
    if (stdio === "prefix") forwardLines(source, process[stream], label);
    else if (stdio !== "ignore") forEachLine(source, (bytes) => stdio(bytes.toString(), { stream, label, rank }));
    // Without a target, `unpipe` has paused the stream.
    source.resume();
  }
}
