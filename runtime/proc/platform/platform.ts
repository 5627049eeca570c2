/**
 * The interface between a process and the machine on which it runs. A thread has the one platform of its real process
 * (`node-platform.ts`), or the platforms of any number of simulated processes. Code of `proc/` and `host/` that runs on
 * both uses the machine only through this interface.
 */

import type { DropDetector } from "../../actor/proc/drop-watch.js";
import type { ActorClass, WatchLimits } from "../../actor/reference/actor-request.js";
import type { Location, ProcId } from "../../link/address.js";
import type { Clock, Random } from "../../link/clock.js";
import type { KeepAlive } from "../../link/keep-alive.js";
import type { AcceptPipe } from "../../link/transport/connect.js";
import type { Listener } from "../../link/transport/listener.js";
import type { NetworkAddress, SocketAddress } from "../../link/transport/network-address.js";
import type { PausablePipe, Pipe } from "../../link/transport/pipe.js";
import type { Via } from "../../link/transport/socket/via.js";
import type { Credentials } from "../../link/transport/tls/credentials.js";
import type { ProcessControl } from "../../supervise/unhandled-faults.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import type { InspectedPort } from "../launch/inspector.js";
import type { ProcBackend, ProcIdentity } from "../launch/proc-backend.js";
import type { ProcessGuard } from "../launch/process-guard.js";
import type { Stdio } from "../launch/stdio.js";
import type { ClassReference } from "./actor-registry.js";
import type { ShutdownTarget } from "./shutdown.js";

/** The machine as a process uses it. */
export interface Platform extends ProcessControl {
  readonly clock: Clock;
  readonly random: Random;
  /** Detects that values were dropped. */
  readonly drops: DropDetector;
  /** The actor classes of this process. */
  readonly classes: ActorClasses;
  /** Keeps a program alive while calls wait. */
  readonly keepAlive: KeepAlive;
  /** The process id, for messages to people. */
  readonly pid: number;
  /** The version of Node.js. */
  readonly node: string;
  /**
   * Returns the directory for the sockets of a tree of processes, or an empty string if the processes do not listen.
   * The directory need not exist.
   */
  runDirOf(universe: bigint): string;
  /** Makes the directory, and has it removed after the end of this process. */
  makeRunDir(directory: string): void;
  /** Returns the location at which a proc with this run directory listens. */
  locationOf(runDir: string, id: ProcId): Location;
  /** Listens at a location. Rejects when that is not possible. */
  listen(location: Location, accept: (pipe: Pipe) => void): Promise<unknown>;
  /** Connects to a location. Rejects when no process listens there. */
  dial(location: Location): Promise<Pipe>;
  /**
   * Connects to an address that a person wrote. Rejects, with an error that names the address, when no process listens
   * there.
   * @param signal aborts the attempt
   */
  connect(address: NetworkAddress, credentials: Credentials | undefined, signal: AbortSignal): Promise<Pipe>;
  /** Makes a TCP connection, whatever it is used for. Rejects when no process listens there. @param signal aborts the attempt */
  connectSocket(address: SocketAddress, signal: AbortSignal): Promise<PausablePipe>;
  /**
   * Does with a connection to an address that exists already what `connect` does with a new one.
   * @param signal aborts the attempt
   */
  secure(
    pipe: PausablePipe,
    address: NetworkAddress,
    credentials: Credentials | undefined,
    signal: AbortSignal,
  ): Promise<Pipe>;
  /**
   * Makes a data connection to a driver gateway, and does with it what `connect` does with one to the address. Absent if
   * this platform makes none.
   * @param signal aborts the attempt
   */
  connectVia?(
    via: Via,
    address: SocketAddress,
    credentials: Credentials | undefined,
    signal: AbortSignal,
  ): Promise<Pipe>;
  /** Listens at an address that a person wrote. Port 0 selects a free port. Rejects when listening is not possible. */
  listenAt(address: NetworkAddress, accept: AcceptPipe, credentials: Credentials | undefined): Promise<Listener>;
  /** Options of Node.js that child processes inherit. */
  readonly execArgv: readonly string[];
  /** Starts a process or a thread. Failures are reported through its exit. */
  start(request: StartRequest): ProcBackend;
  /**
   * Keeps spares for starts with the same options: processes that have loaded the runtime. Absent if this platform has none.
   * @param count the number of spares that wait
   * @returns a function that ends them
   */
  keepSpares?(count: number, options: Pick<StartRequest, "env" | "execArgv">): () => void;
  /**
   * Returns the URL of the module that makes a process understand the language of these modules, or undefined if the
   * process needs none. Without a loader for them, that of this process is passed on: it may be the program's.
   */
  loaderFor(request: Pick<StartRequest, "isolation" | "execArgv">, roots: readonly string[]): string | undefined;
  /**
   * Returns the memory with a name that all processes of a simulation share; zeros at first. Absent: processes are real, and share
   * memory by the operating system.
   */
  simulatedMemory?(name: string, words: number): Uint32Array;

  /** Makes this process understand the language of the program, by a module that `loaderFor` has named. */
  useLoader(url: string): Promise<void>;
  /** Imports a module of the user. */
  importModule(url: string): Promise<unknown>;
  /** Watches the event loop from outside of it. Absent if the platform cannot do so. */
  watchEventLoop?(limits: WatchLimits): void;
  /**
   * Passes uncaught errors to `take`, in the asynchronous context in which they were thrown. If `take` returns false,
   * the error ends the process as usual. Idempotent. Absent if the platform handles uncaught errors itself.
   */
  interceptUncaughtErrors?(take: (error: unknown) => boolean): void;
  /**
   * Detects exits of this process with code 0 that were not requested. If `calls` returns open calls at such an exit,
   * the exit is a failure: the exit code becomes 1, and the parent gets the reason. Absent if such exits cannot happen.
   */
  watchUnexpectedExit?(calls: () => readonly string[]): void;
  /** Emits a warning, as `process.emitWarning` does. */
  warn(message: string, type: string): void;
  /** Has `all` stopped in order at the end of this process. */
  registerShutdown(all: ShutdownTarget): void;
  /** Ignores later errors of the outputs, because this process is about to leave and its reader may be gone. */
  ignoreOutputErrors(): void;
  /** Resolves when the printed output has been passed on to its reader. */
  flushOutput(): Promise<void>;
}

/** A platform for a part of a process. */
export interface ScopedPlatform extends Platform {
  /**
   * Ends all processes that were started through this platform, as if this process had ended, and removes its
   * directory.
   */
  endAll(): void;
}

/** The parameters for starting a process or a thread. */
export interface StartRequest {
  readonly isolation: "process" | "thread";
  readonly identity: ProcIdentity;
  /** The name in reports and in front of output lines. */
  readonly label: string;
  /** Changes to the environment of this process; undefined removes a variable. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Options of Node.js; undefined selects the inherited ones. */
  readonly execArgv: readonly string[] | undefined;
  /** The debugger of the process. */
  readonly inspect?: InspectedPort | undefined;
  /** A list of processors in the notation of `taskset -c`. */
  readonly cpus: string | undefined;
  /** The working directory; undefined selects that of this process. */
  readonly cwd?: string | undefined;
  readonly stdio: Stdio;
  readonly guard?: ProcessGuard | undefined;
}

/** Maps actor classes to their ids and back. */
export interface ActorClasses {
  /** The URLs of all registries, in the order in which they were loaded. */
  readonly registryUrls: readonly string[];
  /**
   * Returns the descriptor of a class without loading anything.
   * @throws TypeError, Error if the class cannot be spawned
   */
  descriptorOf(actorClass: ActorClass): ActorDescriptor;
  /** Returns the reference of a class that has been resolved before. */
  referenceOf(actorClass: ActorClass): ClassReference | undefined;
  /** Returns the reference of a class, and loads modules if needed. Rejects if no module exports the class. */
  resolve(actorClass: ActorClass): Promise<ClassReference>;
  /** Restricts the packages of these registries to them: their actors are not loaded from other registries. */
  restrictTo(urls: readonly string[]): void;
  /** Returns the class to which another process refers. Rejects if there is none. */
  find(reference: ClassReference): Promise<ActorClass>;
}
