/** The platform of real processes: it uses the machine through Node.js. */
import { DropWatch } from "../../actor/proc/drop-watch.js";
import type { WatchLimits } from "../../actor/reference/actor-request.js";
import { lazyModules } from "../../lazy-modules.js";
import { formatId, type Location, type ProcId } from "../../link/address.js";
import { systemClock, systemRandom } from "../../link/clock.js";
import { TimerKeepAlive } from "../../link/keep-alive.js";
import {
  type AcceptPipe,
  connectSocket,
  connectTo,
  connectVia,
  listenAt,
  secureConnection,
} from "../../link/transport/connect.js";
import type { Listener } from "../../link/transport/listener.js";
import type { NetworkAddress, SocketAddress } from "../../link/transport/network-address.js";
import type { PausablePipe, Pipe } from "../../link/transport/pipe.js";
import type { Via } from "../../link/transport/socket/via.js";
import type { Credentials } from "../../link/transport/tls/credentials.js";
import { connectUnix, listenUnix } from "../../link/transport/unix/connect.js";
import { inheritedEnv, inheritedExecArgv, inheritedNodeOptions } from "../launch/inherited-options.js";
import { withInspector } from "../launch/inspector.js";
import { OrphanReaper } from "../launch/orphan-reaper.js";
import { type InheritedTsx, inheritedTsx, preparedLoaderUrl } from "../launch/prepared-typescript.js";
import type { ProcBackend } from "../launch/proc-backend.js";
import { type ProcessBackendOptions, processBackend } from "../launch/process-backend.js";
import { SpareProcesses } from "../launch/spare-processes.js";
import { threadBackend } from "../launch/thread-backend.js";
import { findTypeScriptLoader, hasTypeScriptLoader } from "../launch/typescript-loader.js";
import { actorRegistry } from "./actor-registry.js";
import { bootScript, singleExecutable } from "./boot-script.js";
import { watchEventLoop } from "./event-loop-watch.js";
import { explainOwnModule } from "./import-error.js";
import { importModule } from "./import-module.js";
import { flushOwnOutputs } from "./own-output.js";
import type { Platform, ScopedPlatform, StartRequest } from "./platform.js";
import { locateModule, ownScheme } from "./program-places.js";
import { makeRunDir, runDirOf } from "./run-directory.js";
import { installShutdownHandlers, type ShutdownTarget } from "./shutdown.js";
import { interceptUncaughtErrors } from "./uncaught-errors.js";
import { watchUnexpectedExit } from "./unexpected-exit.js";

/** The module that lets a process load the prepared modules of a program in TypeScript. */
const preparedLoader = new URL("./typescript/register.js", import.meta.url);

/** Time limit in ms for the socket of a process that is still starting, and the interval between two attempts. */
const dialLimit = 1000;
const dialPause = 10;

/**
 * The module by which this process understands TypeScript. Processes that it starts may load modules of the program, although
 * it knows none of them itself.
 */
let ownLoader: string | undefined;

class NodePlatform implements ScopedPlatform {
  readonly clock = systemClock;
  readonly random = systemRandom;
  readonly drops = new DropWatch(systemClock);
  readonly classes = actorRegistry;
  readonly keepAlive = new TimerKeepAlive();
  readonly #reaper = new OrphanReaper();
  /** The spares for different options, and of different owners. */
  readonly #spares: Set<SpareProcesses>;
  #isLoopWatched = false;

  constructor(spares?: SpareProcesses) {
    this.#spares = new Set(spares === undefined ? [] : [spares]);
  }

  get pid(): number {
    return process.pid;
  }

  get node(): string {
    return process.version;
  }

  runDirOf(universe: bigint): string {
    return runDirOf(universe);
  }

  makeRunDir(directory: string): void {
    makeRunDir(directory);
    this.#reaper.removeAtEnd(directory);
  }

  locationOf(runDir: string, id: ProcId): Location {
    return runDir === "" ? "" : `unix:${runDir}/${formatId(id)}.sock`;
  }

  listen(location: Location, accept: (pipe: Pipe) => void): Promise<unknown> {
    return listenUnix(pathOf(location), accept);
  }

  /**
   * Dials a socket and waits until it exists, `dialLimit` at most. The socket of a process that has ended still exists
   * and refuses connections, so that case fails at once.
   */
  async dial(location: Location): Promise<Pipe> {
    for (let waited = 0; ; waited += dialPause) {
      try {
        return await connectUnix(pathOf(location));
      } catch (error) {
        if ((error as { code?: string }).code !== "ENOENT" || waited >= dialLimit) throw error;
      }
      await new Promise<void>((resolve) => systemClock.after(dialPause, resolve, true));
    }
  }

  connect(address: NetworkAddress, credentials: Credentials | undefined, signal: AbortSignal): Promise<Pipe> {
    return connectTo(address, credentials, signal);
  }

  connectSocket(address: SocketAddress, signal: AbortSignal): Promise<PausablePipe> {
    return connectSocket(address, signal);
  }

  connectVia(
    via: Via,
    address: SocketAddress,
    credentials: Credentials | undefined,
    signal: AbortSignal,
  ): Promise<Pipe> {
    return connectVia(via, address, credentials, signal);
  }

  secure(
    pipe: PausablePipe,
    address: NetworkAddress,
    credentials: Credentials | undefined,
    signal: AbortSignal,
  ): Promise<Pipe> {
    return secureConnection(pipe, address, credentials, signal);
  }

  listenAt(address: NetworkAddress, accept: AcceptPipe, credentials: Credentials | undefined): Promise<Listener> {
    return listenAt(address, accept, credentials === undefined ? {} : { credentials });
  }

  get execArgv(): readonly string[] {
    return this.#replaceableTsx(actorRegistry.registryUrls)?.execArgv ?? inheritedExecArgv(process.execArgv);
  }

  endAll(): void {
    this.#reaper.close();
  }

  start(request: StartRequest): ProcBackend {
    const { isolation, identity, label, execArgv, inspect, cpus, cwd, stdio, guard } = request;
    const script = bootScript(actorRegistry.registryUrls);
    const { env, tsx } = this.#environmentOf(request);
    const own = { ...env, ...guard?.environment?.() };
    const common = { identity, env: own, stdio, label, rank: identity.rank, guard, cwd };
    if (script === singleExecutable) return this.#startExecutable(common, { isolation, execArgv, inspect, cpus });
    if (isolation === "thread") return threadBackend({ ...common, bootFile: script, execArgv: tsx?.execArgv });
    const options = withInspector(tsx?.execArgv ?? childExecArgv(execArgv), inspect);
    const spares = inspect === undefined ? [...this.#spares] : [];
    return processBackend({ ...common, boot: [script], execArgv: options, cpus, spares, reaper: this.#reaper });
  }

  keepSpares(count: number, request: Pick<StartRequest, "env" | "execArgv">): () => void {
    const boot = bootScript(actorRegistry.registryUrls);
    if (boot === singleExecutable) return () => {};
    const { env, tsx } = this.#environmentOf(request);
    const execArgv = tsx?.execArgv ?? childExecArgv(request.execArgv);
    const spares = new SpareProcesses(this.clock, count, { boot, execArgv, env });
    this.#spares.add(spares);
    spares.fillLater();
    return () => {
      this.#spares.delete(spares);
      spares.close();
    };
  }

  /** Returns the environment of a process, and what replaces tsx among the options that it inherits. */
  #environmentOf({ env, execArgv }: Pick<StartRequest, "env" | "execArgv">): {
    readonly env: NodeJS.ProcessEnv;
    readonly tsx: InheritedTsx | undefined;
  } {
    const inherited = inheritedEnv(env);
    if (bootScript(actorRegistry.registryUrls) === singleExecutable) return { env: inherited, tsx: undefined };
    const tsx = execArgv === undefined ? this.#replaceableTsx(actorRegistry.registryUrls) : undefined;
    if (tsx?.nodeOptions !== undefined && env["NODE_OPTIONS"] === undefined) {
      inherited["NODE_OPTIONS"] = inheritedNodeOptions(tsx.nodeOptions);
    }
    return { env: inherited, tsx };
  }

  /** Starts a single executable application again. It passes all its arguments on, so options are in the environment. */
  #startExecutable(
    common: Omit<ProcessBackendOptions, "boot" | "execArgv" | "cpus" | "spares" | "reaper">,
    { isolation, execArgv, inspect, cpus }: Pick<StartRequest, "isolation" | "execArgv" | "inspect" | "cpus">,
  ): ProcBackend {
    if (isolation === "thread") {
      throw new Error(
        "cannot start a thread: a single executable application has no script that a thread can run; use isolation " +
          `"process", got ${process.execPath}`,
      );
    }
    const given = [common.env["NODE_OPTIONS"] ?? "", ...withInspector(execArgv ?? [], inspect)];
    const options = given.filter((option) => option !== "").join(" ");
    const env = options === "" ? common.env : { ...common.env, NODE_OPTIONS: options };
    return processBackend({ ...common, env, boot: [], execArgv: [], cpus, spares: [], reaper: this.#reaper });
  }

  /**
   * Worker threads of Node.js 20 inherit no loader hooks. Processes inherit the loader of their options, except tsx: they
   * load modules that were prepared with tsx.
   */
  loaderFor(
    { isolation, execArgv }: Pick<StartRequest, "isolation" | "execArgv">,
    roots: readonly string[],
  ): string | undefined {
    const tsx = execArgv === undefined ? this.#replaceableTsx(roots) : undefined;
    const options = tsx?.execArgv ?? childExecArgv(execArgv);
    const nodeOptions = tsx?.nodeOptions ?? process.env["NODE_OPTIONS"];
    if (isolation === "process" && hasTypeScriptLoader(options, nodeOptions)) return undefined;
    return preparedLoaderUrl(preparedLoader, roots, tsx) ?? findTypeScriptLoader(roots) ?? ownLoader;
  }

  async useLoader(url: string): Promise<void> {
    ownLoader = url;
    await ((await this.importModule(url)) as { register(): unknown }).register();
  }

  /** Returns how child processes inherit this process's options without tsx; undefined if they inherit tsx, too. */
  #replaceableTsx(roots: readonly string[]): InheritedTsx | undefined {
    if (preparedLoaderUrl(preparedLoader, roots, undefined) === undefined) return undefined;
    return inheritedTsx(inheritedExecArgv(process.execArgv), process.env["NODE_OPTIONS"]);
  }

  async importModule(url: string): Promise<unknown> {
    try {
      return await importModule(locateModule(url));
    } catch (error) {
      throw url.startsWith(ownScheme) ? explainOwnModule(error, url) : error;
    }
  }

  /** The first limits count. Only main threads are watched, because the inspector of Node.js cannot reach others. */
  watchEventLoop(limits: WatchLimits): void {
    if (this.#isLoopWatched || !lazyModules.workerThreads.isMainThread) return;
    this.#isLoopWatched = true;
    watchEventLoop(limits);
  }

  interceptUncaughtErrors(take: (error: unknown) => boolean): void {
    interceptUncaughtErrors(take);
  }

  watchUnexpectedExit(calls: () => readonly string[]): void {
    watchUnexpectedExit(calls);
  }

  print(text: string): void {
    process.stderr.write(text);
  }

  warn(message: string, type: string): void {
    process.emitWarning(message, type);
  }

  registerShutdown(all: ShutdownTarget): void {
    installShutdownHandlers(all);
  }

  ignoreOutputErrors(): void {
    for (const output of [process.stdout, process.stderr]) output.on("error", () => {});
  }

  flushOutput(): Promise<void> {
    return flushOwnOutputs();
  }

  exit(code?: number): void {
    process.exit(code);
  }
}

function childExecArgv(execArgv: readonly string[] | undefined): readonly string[] {
  return execArgv ?? inheritedExecArgv(process.execArgv);
}

function pathOf(location: Location): string {
  return location.replace(/^unix:/, "");
}

/** The platform of this thread. */
export const nodePlatform: Platform = new NodePlatform();

/**
 * Makes another platform for a part of this process. The processes that are started through it can be ended separately.
 * @param spares the processes that have been started before
 */
export function makeNodePlatform(spares?: SpareProcesses): ScopedPlatform {
  return new NodePlatform(spares);
}

/** Makes spares for processes with the environment and the options of this one. @param count how many of them wait */
export function makeSpares(count: number): SpareProcesses | undefined {
  const boot = bootScript([]);
  if (boot === singleExecutable || count === 0) return undefined;
  return new SpareProcesses(systemClock, count, { boot, execArgv: childExecArgv(undefined), env: inheritedEnv({}) });
}
