/**
 * What a process needs of the machine that it runs on, as a parameter: a thread holds the one real process that it belongs
 * to (node-platform.ts), or any number of simulated ones. Nothing in proc/ and host/ that is the same for both asks the
 * machine in any other way.
 */

import type { WatchLimits } from "../../actor/cell/watchdog.js";
import type { DropDetector } from "../../actor/proc/drop-watch.js";
import type { ActorClass } from "../../actor/reference/proc-hooks.js";
import type { Location, ProcId } from "../../link/address.js";
import type { Clock, Random } from "../../link/clock.js";
import type { KeepAlive } from "../../link/keep-alive.js";
import type { Listener } from "../../link/listener.js";
import type { NetworkAddress } from "../../link/network-address.js";
import type { Pipe } from "../../link/pipe.js";
import type { Credentials } from "../../link/tls/credentials.js";
import type { ProcessControl } from "../../supervise/unhandled-faults.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import type { ProcBackend, ProcIdentity } from "../launch/proc-backend.js";
import type { Stdio } from "../launch/stdio.js";
import type { ClassReference } from "./actor-registry.js";
import type { ShutdownTarget } from "./shutdown.js";

export interface Platform extends ProcessControl {
  readonly clock: Clock;
  readonly random: Random;
  /** How it is noticed that values were dropped. */
  readonly drops: DropDetector;
  /** The actor classes that there are. */
  readonly classes: ActorClasses;
  /** What the waiting calls of a program hold. */
  readonly keepAlive: KeepAlive;
  /** Of the process, for people. */
  readonly pid: number;
  /** The version of Node.js. */
  readonly node: string;
  /** Where the processes of a tree have their sockets, or would have; empty: they don't listen. */
  runDirOf(universe: bigint): string;
  /** Makes it, and sees to it that it is removed when this process has ended. */
  makeRunDir(directory: string): void;
  /** Where a proc of a tree with this run directory listens. */
  locationOf(runDir: string, id: ProcId): Location;
  /** Rejects when nobody can listen there. */
  listen(location: Location, accept: (pipe: Pipe) => void): Promise<unknown>;
  /** Rejects when nobody listens there. */
  dial(location: Location): Promise<Pipe>;
  /**
   * Dials an address that people write. Rejects, with an error that names it, when nobody listens there.
   * @param signal gives the attempt up
   */
  connect(address: NetworkAddress, credentials: Credentials | undefined, signal: AbortSignal): Promise<Pipe>;
  /** Listens at an address that people write; port 0: at one that is free. Rejects when nobody can listen there. */
  listenAt(
    address: NetworkAddress,
    accept: (pipe: Pipe) => void,
    credentials: Credentials | undefined,
  ): Promise<Listener>;
  /** Options of Node.js that processes inherit. */
  readonly execArgv: readonly string[];
  /** Starts a process or a thread. What goes wrong with it is told by its end. */
  start(request: StartRequest): ProcBackend;
  /** The module that teaches a process the language of these registries, if it takes one. */
  loaderFor(request: Pick<StartRequest, "isolation" | "execArgv">, registries: readonly string[]): string | undefined;
  /** Imports a module of the user's. */
  importModule(url: string): Promise<unknown>;
  /** Has the event loop watched by somebody who does not depend on it; absent: nobody can. */
  watchEventLoop?(limits: WatchLimits): void;
  /**
   * Offers errors that nobody has caught to `take`, in the asynchronous context in which they were thrown. One that it does
   * not take ends the process, as ever. Idempotent. Absent: the platform deals with them in its own way.
   */
  interceptUncaughtErrors?(take: (error: unknown) => boolean): void;
  /**
   * Watches for an end of this process with exit code 0 that nobody has ordered. While `calls` names any, that is a failure:
   * the code becomes 1, and the maker is told why. Absent: there is no such end.
   */
  watchUnexpectedExit?(calls: () => readonly string[]): void;
  /** A warning, as Node.js has them. */
  warn(message: string, type: string): void;
  /** From now on the end of this process is an end in order. */
  registerShutdown(all: ShutdownTarget): void;
  /** This process is about to leave: whether anyone still reads what it prints does not matter. */
  ignoreOutputErrors(): void;
  /** Resolves when what this process has printed has been taken by whoever reads it. */
  flushOutput(): Promise<void>;
}

/** A platform for part of what a process does. */
export interface ScopedPlatform extends Platform {
  /** Ends all processes that were started through it, as if this one had ended, and removes what it has made. */
  endAll(): void;
}

/** What a process or a thread is started with. */
export interface StartRequest {
  readonly isolation: "process" | "thread";
  readonly identity: ProcIdentity;
  /** In reports, and in front of output. */
  readonly label: string;
  /** On top of the environment of this process; undefined removes a variable. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Options of Node.js; undefined: those that are inherited. */
  readonly execArgv: readonly string[] | undefined;
  /** A list in the notation of `taskset -c`. */
  readonly cpus: string | undefined;
  readonly stdio: Stdio;
}

/** The way from an actor class to its id and back. */
export interface ActorClasses {
  /** The places of all registries, in the order in which they were loaded. */
  readonly registryUrls: readonly string[];
  /** What is known of a class without loading anything. @throws TypeError, Error if it cannot be spawned */
  descriptorOf(actorClass: ActorClass): ActorDescriptor;
  /** The reference of a class that has been resolved before. */
  referenceOf(actorClass: ActorClass): ClassReference | undefined;
  /** Rejects if no module exports the class. */
  resolve(actorClass: ActorClass): Promise<ClassReference>;
  /** No actor of the packages of these registries is taken from others. */
  restrictTo(urls: readonly string[]): void;
  /** The class that another process means. Rejects if there is none. */
  find(reference: ClassReference): Promise<ActorClass>;
}
