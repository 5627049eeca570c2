/**
 * The driver's handle of a process that watches its hosts (`proc/remote/host-watch.ts`). The process is started with
 * the first host, ended after the last one, and restarted if it is killed. Because it is a separate process, hosts are
 * watched even while the driver is busy. It runs on the machine of the driver, or on a host through which the driver
 * reaches the others.
 */
import type { HostWatchOrder } from "../../../generated/proc-agent.js";
import type { Proc } from "../../actor/proc/proc.js";
import type { ProcId } from "../../link/address.js";
import type { ProcBackend } from "../../proc/launch/proc-backend.js";
import type { ChildProc } from "../../proc/mesh/child-proc.js";
import type { StartRequest } from "../../proc/platform/platform.js";
import { agentOf, runAsRoot } from "../../proc/proc-agents.js";
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";

/**
 * Limit for restarts: after this many starts of processes that each ran for less than `stableAfterMs`, another start
 * will not help.
 */
const maxQuickStarts = 8;
const stableAfterMs = 10_000;

/** Starts the process. Returns undefined if that is not possible now; `restart` is called later. @param id its id */
type StartWatching = (id: ProcId) => ProcBackend | undefined;

export class HostWatcher {
  readonly #runtime: ProcessRuntime;
  readonly #startProcess: StartWatching;
  readonly #orders = new Map<ProcId, HostWatchOrder>();
  #child: ChildProc | undefined;
  /** Number of consecutive starts without a process that ran for `stableAfterMs`, and the time of the last start. */
  #quickStarts = 0;
  #startedAt = 0;

  constructor(runtime: ProcessRuntime, start: StartWatching) {
    this.#runtime = runtime;
    this.#startProcess = start;
  }

  watch(order: HostWatchOrder): void {
    this.#orders.set(order.host, order);
    if (this.#child === undefined) this.#start();
    else this.#sendOrder(this.#child, order);
  }

  /**
   * Starts another process in place of the one that there is, because it must run somewhere else. The old one may go on for a
   * while; what it reports is ignored.
   */
  restart(): void {
    if (this.#child !== undefined) this.#child.isExitExpected = true;
    this.#child = undefined;
    this.#quickStarts = 0;
    if (this.#orders.size > 0) this.#start();
  }

  unwatch(host: ProcId): void {
    const child = this.#child;
    if (!this.#orders.delete(host) || child === undefined) return;
    if (this.#orders.size > 0) {
      runAsRoot(this.#runtime.mainProc.proc, () => agentOf(child.id).unwatchHost.broadcast(host));
      return;
    }
    this.#child = undefined;
    this.#quickStarts = 0;
    child.isExitExpected = true;
    child.backend.kill();
  }

  #start(): void {
    const { platform, mainProc } = this.#runtime;
    this.#startedAt = platform.clock.now();
    if (this.#quickStarts++ === maxQuickStarts) {
      platform.warn(
        "the process that watches hosts has ended too often; hosts are not watched any more",
        "ViceroyWarning",
      );
      return;
    }
    const id = platform.random.id();
    const backend = this.#startProcess(id);
    if (backend === undefined) return;
    const child = this.#runtime.addChild(mainProc.proc, { id, rank: 0, location: "", backend }, () =>
      this.#childExited(id),
    );
    this.#child = child;
    for (const order of this.#orders.values()) this.#sendOrder(child, order);
  }

  #sendOrder({ id }: ChildProc, order: HostWatchOrder): void {
    runAsRoot(this.#runtime.mainProc.proc, () => agentOf(id).watchHost.broadcast(order));
  }

  #childExited(id: ProcId): void {
    if (this.#child?.id !== id) return;
    this.#child = undefined;
    if (this.#runtime.platform.clock.now() - this.#startedAt > stableAfterMs) this.#quickStarts = 0;
    if (this.#orders.size > 0) this.#start();
  }
}

/** Starts a process that watches hosts. @param start starts it, here or on a host */
export function startWatching(
  { universe, id: parent }: Proc,
  id: ProcId,
  start: (request: Omit<StartRequest, "isolation">) => ProcBackend,
): ProcBackend {
  return start({
    identity: { universe, id, parent, rank: 0, extent: {}, runDir: "" },
    label: "watches hosts",
    env: { NODE_OPTIONS: undefined },
    execArgv: [],
    cpus: undefined,
    stdio: "ignore",
  });
}

const watchersByProcess = new WeakMap<ProcessRuntime, HostWatcher>();

/** Returns the watcher of a process, which runs on its machine. */
export function hostWatcherOf(runtime: ProcessRuntime): HostWatcher {
  let found = watchersByProcess.get(runtime);
  if (found === undefined) {
    const { platform, mainProc } = runtime;
    const start = (request: Omit<StartRequest, "isolation">) => platform.start({ isolation: "process", ...request });
    found = new HostWatcher(runtime, (id) => startWatching(mainProc.proc, id, start));
    watchersByProcess.set(runtime, found);
  }
  return found;
}
