/**
 * Tasks: functions that run on worker processes. Five kinds of actors share the work. The *root* is in the program that has
 * opened the context, the *host* manages the worker processes and resources of one machine, a *worker* runs tasks, and an
 * *owner* keeps the results of the tasks that its process has started. The *store* of a host has large values of owners
 * on other hosts.
 */
import type { Actor, Mesh, Stream, Uint32, Uint64 } from "viceroy/schema";

/** An npm lock file, whose packages are installed once on each host. */
export interface LockedPackages {
  /** The text of package.json. */
  manifest: string;
  /** The text of package-lock.json. */
  lock: string;
}

/** The surroundings that a worker process gets before it runs a task. Tasks with equal environments share worker processes. */
export interface TaskEnvironment {
  /** Environment variables in addition to those of the host. */
  env: Record<string, string>;
  /** The working directory of the process. Absent: that of the host. */
  workingDirectory?: string;
  packages?: LockedPackages;
}

/** The request for a worker process on a host, for tasks with equal resources, environment and bundle. */
export interface LeaseRequest {
  /** The process that asks. Its leases end with it. */
  holder: Uint64;
  /** The number of the request, unique in the process that asks. */
  number: Uint32;
  /** The name of the first task that waits for the lease, for messages. */
  label: string;
  /** The amounts of resources: `cpus`, `gpus`, `memory` in bytes, and others by their names. */
  resources: Record<string, number>;
  /** Absent: that of the context. */
  environment?: TaskEnvironment;
  /** The placement group, and the bundle in it, whose reserved resources are used. */
  group?: Uint64;
  bundle?: Uint32;
  /** Whether the process is used by one lease only and ends afterwards. */
  fresh: boolean;
}

/** A worker process that its holder may use until it gives the lease back. */
export interface Lease {
  /** The number of the lease, unique on its host. */
  id: Uint32;
  worker: Mesh<TaskWorker, never>;
  /** The indices of the GPUs that are assigned to the lease. */
  gpus: Uint32[];
}

/** The reason why a host takes a lease back or has ended it. */
export interface LeaseNotice {
  lease: Uint32;
  /**
   * `wanted`: others wait for its resources, and the holder gives it back after the tasks that run. `ended`: the worker
   * process has ended.
   */
  kind: "wanted" | "ended";
  /** For `ended`: what happened to the process, with the name of the task if the host has ended it on purpose. */
  reason: string;
  /**
   * For `ended`: the number of the last order of the lease whose task has begun; 0: none has. Absent: it is not known, and all may
   * have begun.
   */
  begun?: Uint32;
}

/** The resources of a host, in all and not in use. */
export interface HostLoad {
  total: Record<string, number>;
  free: Record<string, number>;
  /** The number of requests that wait. */
  waiting: Uint32;
  /** The number of worker processes. */
  workers: Uint32;
  /** The large values of the processes of the host. Absent: they are not in the memory of the machine. */
  objects?: ObjectUsage;
  /** The id of the machine in whose memory they are. Absent: they are in none, or the machine has no id. */
  machine?: Uint64;
}

/** The use of memory and disk by large values, and the limits, in bytes. */
export interface ObjectUsage {
  memory: number;
  memoryLimit: number;
  disk: number;
  diskLimit: number;
  /** The number of values, and that of those which are on disk. */
  values: Uint32;
  spilled: Uint32;
}

/** A large value, as its owner knows it. */
export interface ObjectEntry {
  /** The name of the task, the endpoint, or `put`. */
  label: string;
  /** The number of encoded bytes. */
  size: Uint32;
  /** The place of the value at its owner. `hosts`: only stores of other hosts have it. */
  place: "memory" | "disk" | "heap" | "hosts";
  /** The number of stores that have it, or get it. */
  copies: Uint32;
  /** The number of other processes that have references. */
  borrowers: Uint32;
}

/** The limits of large values on each host, as the program has set them. */
export interface ObjectLimits {
  /** The most bytes in memory. Absent: a share of the memory of the host. */
  memory?: number;
  /** The most bytes on disk. Absent: a share of what is free in the folder. */
  disk?: number;
  /** The folder of values on disk. Absent: that of temporary files. */
  folder?: string;
  /** The behavior of a process that has a new value when there is no room. */
  whenFull: "wait" | "fail";
}

/** The order to create an actor in a process of its own. */
export interface ActorOrder {
  /** The number of the actor in its context. The root sets it. */
  id: Uint64;
  /** The name of the mesh in reports. */
  label: string;
  /** The URL of the generated registry, and the id of the class in it. */
  registry: string;
  classId: string;
  /** The arguments of the constructor, encoded with the codec of the schema. */
  args: Uint8Array;
  resources: Record<string, number>;
  environment?: TaskEnvironment;
  group?: Uint64;
  bundle?: Uint32;
  /** The number of restarts after failures. */
  restarts: Uint32;
  /** The number of calls after which its process is replaced. Absent: there is no limit. */
  maxCalls?: Uint32;
}

/** An actor that a host has created. */
export interface ActorPlaced {
  /** The mesh of one actor, encoded with the codec of meshes of its interface. */
  mesh: Uint8Array;
  gpus: Uint32[];
}

/** The share of a host that a detached actor gets: resources that are held for it, and a prepared environment. */
export interface HeldForActor {
  gpus: Uint32[];
  /** The environment variables of its process. */
  env: Record<string, string>;
}

/** The configuration of the manager of one host. */
export interface HostOptions {
  /** The id of the context. */
  context: string;
  root: Mesh<TaskRoot, never>;
  /** The number of the host in the context, from 0. */
  host: Uint32;
  /** The number of worker processes. */
  procs: Uint32;
  isolation: "process" | "thread" | "inline";
  /** The resources that the host offers. */
  resources: Record<string, number>;
  environment: TaskEnvironment;
  /** The worker processes, if the program has spawned them. The host then neither starts nor replaces any. */
  workers: Mesh<TaskWorker, never>[];
  /** Absent: large values have the default limits. */
  objects?: ObjectLimits;
}

/** The manager of one host: its worker processes, its resources, and the actors that have processes of their own. */
export interface TaskHost extends Actor<[options: HostOptions]> {
  /**
   * Waits until a worker process and the resources are free. The holder must read `notices`. Cancelling the call withdraws
   * the request if it has not been granted. Throws ResourceUnavailableError if the host can never have them.
   *
   * @concurrent
   */
  lease(request: LeaseRequest): Lease;
  /**
   * Withdraws a request. If it has been granted, the lease ends, also if the answer is under way.
   *
   * @concurrent
   */
  withdraw(holder: Uint64, number: Uint32): void;
  /**
   * Ends a lease whose tasks have ended.
   *
   * @concurrent
   */
  giveBack(lease: Uint32): void;
  /**
   * Frees the resources of a lease whose tasks all wait for results of others, until `resume`.
   *
   * @concurrent
   */
  suspend(lease: Uint32): void;
  /**
   * The tasks of a suspended lease go on. Its resources may be in use twice for a while.
   *
   * @concurrent
   */
  resume(lease: Uint32): void;
  /**
   * Kills the worker process of a lease, because a cancelled task has not ended in time.
   *
   * @param ifBegun the number of the order of the task: the process is killed only if it is known that the task has begun; 0: it
   *   is killed in any case
   * @concurrent
   */
  kill(lease: Uint32, reason: string, ifBegun?: Uint32): void;
  /**
   * Yields what happens to the leases of a process. The stream ends with the host.
   *
   * @concurrent
   */
  notices(holder: Uint64): Stream<LeaseNotice>;
  /** @concurrent */
  load(): HostLoad;
  /**
   * Answers with the large values of the worker processes that answer.
   *
   * @concurrent
   */
  objects(): ObjectEntry[];
  /**
   * Reserves the resources of a bundle, or answers false if they are not free within `timeout` milliseconds.
   *
   * @concurrent
   */
  reserve(group: Uint64, bundle: Uint32, resources: Record<string, number>, timeout: Uint32): boolean;
  /**
   * Ends the bundles of a group. Its tasks that run are killed, and its actors are stopped.
   *
   * @concurrent
   */
  unreserve(group: Uint64): void;
  /**
   * Creates an actor in a process of its own. Waits until its resources are free.
   *
   * @concurrent
   */
  startActor(order: ActorOrder): ActorPlaced;
  /**
   * Stops an actor and its process. An unknown number has no effect.
   *
   * @param drain the time in milliseconds in which the actor still handles messages that it has been sent
   * @concurrent
   */
  stopActor(id: Uint64, reason: string, drain: Uint32): void;
  /**
   * Answers whether an actor lives, or is being restarted.
   *
   * @concurrent
   */
  actorLives(id: Uint64): boolean;
  /**
   * Waits until the resources of a detached actor are free, and holds them until `release`. A controller creates the actor.
   *
   * @concurrent
   */
  hold(order: ActorOrder): HeldForActor;
  /**
   * Holds resources that a detached actor of this host has already, also if they are in use, until `release`.
   *
   * @concurrent
   */
  keep(id: Uint64, resources: Record<string, number>, gpus: Uint32[]): void;
  /**
   * Frees the resources that are held under a number. An unknown number has no effect.
   *
   * @concurrent
   */
  release(id: Uint64): void;
}

/** A function, and the module that exports it. */
export interface TaskFunction {
  /** The URL of the module. Empty: the function is in this process alone, under its number. */
  module: string;
  /** The name of the export. */
  name: string;
  /** An endpoint of an actor. `module` is then the URL of its registry, and `name` the id of its class. */
  endpoint?: string;
  /** The fingerprint of the task in its schema. Absent: arguments and result are plain values. */
  schema?: Uint64;
}

/** A task in a chain of tasks that have started each other. */
export interface TaskOrigin {
  /** The process that has started the task, and the number of its result there. */
  proc: Uint64;
  id: Uint32;
  /** The owner of the result. Absent: the program has started the task. */
  owner?: Mesh<TaskOwner, never>;
}

/** One task for a worker. */
export interface TaskOrder {
  /** The number of the task in the process that has started it. */
  id: Uint32;
  lease: Uint32;
  /** The number of the function, unique in the lease. */
  fn: Uint32;
  /** The function, in the first order of the lease with its number. */
  defines?: TaskFunction;
  /** The encoded arguments. */
  args: Uint8Array;
  /** The task itself and those that have started it, the outermost last. Absent: the program has started it. */
  chain?: TaskOrigin[];
  /**
   * The number of the order in its lease, from 1. Later orders have greater numbers, and their tasks begin later. Absent: the sender
   * does not ask which tasks have begun, and all tasks of the lease count as begun.
   */
  number?: Uint32;
  /**
   * The positions of the arguments that are not there: `args` contains a reference to a result instead, which the worker fetches
   * from its owner. Absent: there are none.
   */
  fetched?: Uint32[];
  /**
   * Whether the memory of the process is limited: its result is not stored in the memory of the machine, which would count although others
   * keep it. Absent: it is not.
   */
  limited?: boolean;
}

/** An encoded value in the memory of a machine, which other processes of the machine open. */
export interface StoredMemory {
  /** The process that has it, and the descriptor of its file there. */
  pid: Uint32;
  file: Uint32;
  /** 16 random bytes at the end of the file, which identify it. */
  token: Uint8Array;
  /** The number of bytes before the binary values that can be mapped. */
  head: Uint32;
  /** The number of bytes of the value. */
  size: Uint32;
  /** Whether the file is on disk, with checksums between the value and the token. Absent: it is in memory. */
  disk?: boolean;
}

/** The end of a task that has not thrown. */
export interface TaskOutcome {
  /** `returned`: the task has not begun, because its holder has taken it back. `cancelled`: it was cancelled. */
  state: "done" | "returned" | "cancelled";
  /** The encoded result. Empty if it is stored. */
  value: Uint8Array;
  /** The run time of the function in microseconds. */
  micros: Uint32;
  /** Whether the result contains references, which the receiver borrows at once. Absent: it contains none. */
  references?: boolean;
  /** A large result in the memory of the machine, which the worker keeps until `taken`. Absent: `value` is the result. */
  stored?: StoredMemory;
}

/** A part of an encoded value. */
export interface ObjectPiece {
  bytes: Uint8Array;
  /** The CRC-32 of the bytes, computed by the process that has encoded the value. */
  sum: Uint32;
}

/** A place from which the pieces of a value can be read. */
export interface ObjectSource {
  /** The number of bytes of the value, and of those before the binary values that can be mapped. */
  size: Uint32;
  head: Uint32;
  /** The store that has it, or gets it now. Absent: the owner has it. */
  store?: Mesh<TaskStore, never>;
}

/** The configuration of the store of one host. */
export interface StoreOptions {
  /** The id of the context. */
  context: string;
  /** The center of the context, which knows the store. Absent: the process is not a part of the context, but a guest. */
  root?: Mesh<TaskRoot, never>;
  /** The number of the host in the context, from 0. Without a root, it is 0 and means nothing. */
  host: Uint32;
  /** The limits of its memory and disk. Absent: those of the machine. */
  objects?: ObjectLimits;
}

/**
 * The large values in the memory of one host whose owners are on other hosts: results of its workers, and values that its processes have
 * read. Values are named by the process of their owner and their number there.
 */
export interface TaskStore extends Actor<[options: StoreOptions]> {
  /**
   * Takes the result of a worker of this host over. Answers with its new place, or null if it cannot be opened.
   *
   * @concurrent
   */
  adopt(owner: Mesh<TaskOwner, never>, id: Uint32, memory: StoredMemory): StoredMemory | null;
  /**
   * Gets a value of another host, unless it is here or on its way already. Answers with its place when all of it is here, or null if
   * this host cannot share memory.
   *
   * @concurrent
   */
  bring(reference: ObjectReference): StoredMemory | null;
  /**
   * Answers with a piece, the first of which has the number 0. Waits for it while the value is on its way.
   *
   * @concurrent
   */
  piece(owner: Uint64, id: Uint32, index: Uint32): ObjectPiece;
  /**
   * Answers whether the value is here, or on its way.
   *
   * @concurrent
   */
  has(owner: Uint64, id: Uint32): boolean;
  /**
   * Frees a value. One that is not here has no effect.
   *
   * @concurrent
   */
  drop(owner: Uint64, id: Uint32): void;
  /**
   * Answers when the host has left the context. Owners learn of its end by this call.
   *
   * @concurrent
   */
  untilLeft(): void;
}

/** The description of the context, for a worker. */
export interface WorkerOptions {
  context: string;
  root: Mesh<TaskRoot, never>;
  /** The manager of the host, and the number of the host in the context. */
  host: Mesh<TaskHost, never>;
  hostIndex: Uint32;
  store: Mesh<TaskStore, never>;
  /**
   * The path of the file in which the worker records which tasks have begun. The host reads it when the process has ended. Absent:
   * the worker records nothing.
   */
  begunFile?: string;
  objects?: ObjectLimits;
  /**
   * The path of the record in which the processes of the host write how much memory and disk their large values use. Absent: the
   * process has a record of its own.
   */
  objectRecord?: string;
  /** The slot of the process in that record. */
  objectSlot?: Uint32;
}

/** Runs the tasks of one worker process: one at a time for each lease, apart from tasks that wait for others. */
export interface TaskWorker extends Actor {
  /** The first message. */
  configure(options: WorkerOptions): void;
  /**
   * Runs a task. The error of the task rejects the call.
   *
   * @concurrent
   */
  run(order: TaskOrder): TaskOutcome;
  /**
   * Aborts the signal of a task that runs. A task that has not begun is not run.
   *
   * @concurrent
   */
  cancel(lease: Uint32, id: Uint32): void;
  /**
   * Answers the tasks of a lease that have not begun with `returned`.
   *
   * @concurrent
   */
  takeBack(lease: Uint32): void;
  /**
   * The lease has ended. Cancels its tasks, if there are any left, and answers when none of them runs.
   *
   * @concurrent
   */
  endLease(lease: Uint32): void;
  /**
   * The receiver, or the store of the host, has the result of a task that was stored here.
   *
   * @concurrent
   */
  taken(lease: Uint32, id: Uint32): void;
  /**
   * Answers with the large values that this process owns.
   *
   * @concurrent
   */
  objects(): ObjectEntry[];
}

/** A reference to a result, in a message. */
export interface ObjectReference {
  /** The id of the context. */
  context: string;
  owner: Mesh<TaskOwner, never>;
  /** The number of the result in the process of its owner. */
  id: Uint32;
  /** The name of the task, for messages. */
  label: string;
  /** The task whose schema describes the result. Absent: the result is a plain value. */
  task?: TaskFunction;
  /** The number of the host in the context that has the result. Absent: the process that has it is on none of them. */
  host?: Uint32;
  /** The number of encoded bytes. Absent: the task had not ended when the reference was sent. */
  size?: Uint32;
  /** The memory in which processes on the machine of the sender find the value. Absent: the sender has not stored it. */
  stored?: StoredMemory;
}

/** The size of a result, and the result itself if it is small. */
export interface LocatedResult {
  /** The number of its encoded bytes. */
  size: Uint32;
  value?: Uint8Array;
  /** The memory in which processes on the machine of the owner find it. Absent: the owner has not stored it. */
  stored?: StoredMemory;
}

/** Keeps the results of the tasks that its process has started, as long as a reference to them exists. */
export interface TaskOwner extends Actor<[context: string]> {
  /**
   * Answers where the pieces of a large result can be read now, when the task has ended. Throws ObjectLostError if no process has the
   * result.
   *
   * @param reader the store that reads it, from which others may read then. Absent: a process reads it for itself
   * @param failed the store from which the reader could not read. Absent: none has failed
   * @concurrent
   */
  source(id: Uint32, reader?: Mesh<TaskStore, never>, failed?: Mesh<TaskStore, never>): ObjectSource;
  /**
   * Answers with a piece of a result that this process has.
   *
   * @concurrent
   */
  piece(id: Uint32, index: Uint32): ObjectPiece;
  /**
   * A store has read a result completely.
   *
   * @concurrent
   */
  copied(id: Uint32, reader: Mesh<TaskStore, never>): void;
  /**
   * Answers with the store from which all guests of a machine get large values: that of the host of the context on this machine, or the
   * one that was offered first.
   *
   * @param offered a store in the process of the guest
   * @param failed the store that this process has named before, and that has ended. Absent: none has
   * @concurrent
   */
  storeNear(machine: Uint64, offered: Mesh<TaskStore, never>, failed?: Mesh<TaskStore, never>): Mesh<TaskStore, never>;
  /**
   * Answers whether the task that has started a task waits for its result now.
   *
   * @concurrent
   */
  isAwaited(id: Uint32): boolean;
  /**
   * Keeps a result for another process until `unborrow`, or until that process ends.
   *
   * @param returned whether the reference was in the result of a task, so that it was kept for the receiver until now
   * @concurrent
   */
  borrow(id: Uint32, borrower: Mesh<TaskOwner, never>, returned: boolean): void;
  /** @concurrent */
  unborrow(id: Uint32, borrower: Mesh<TaskOwner, never>): void;
  /**
   * Answers when the process has left the context. Those whose results it has borrowed learn of its end by this call.
   *
   * @concurrent
   */
  untilLeft(): void;
  /**
   * Answers with the size of a result when the task has ended. The error of the task rejects the call.
   *
   * @param most the size in bytes up to which the answer contains the result itself
   * @concurrent
   */
  locate(id: Uint32, most: Uint32): LocatedResult;
}

/** A host of a context. */
export interface ContextHost {
  host: Mesh<TaskHost, never>;
  store: Mesh<TaskStore, never>;
  resources: Record<string, number>;
  /** The number of worker processes. */
  procs: Uint32;
}

/** The hosts to which a worker process can send tasks, and how cancelled ones are treated. */
export interface ContextDescription {
  hosts: ContextHost[];
  /** The time in milliseconds after which a task that was cancelled is ended with its process. */
  grace: Uint32;
  /** The URLs of the generated registries that the program has loaded, for the classes of actors that its tasks create. */
  registries?: string[];
}

/** The request for an actor, by a program or a task. */
export interface ActorRequest {
  /** Absent: the actor has no name. */
  name?: string;
  getIfExists: boolean;
  /** The index of the host. Absent: the root chooses it. */
  host?: Uint32;
  order: ActorOrder;
  /** Whether a controller on the hosts of the context creates the actor, so that it outlives the program. */
  detached?: boolean;
}

/** The actor that the root has found or created. */
export interface ActorFound {
  id: Uint64;
  placed: ActorPlaced;
  /** The id of its class, which may differ from the requested one. */
  classId: string;
  created: boolean;
}

/** A bundle of a placement group, on its host. */
export interface PlacedBundle {
  host: Uint32;
}

/** The center of a context: its hosts, the names of its actors, and its placement groups. It does not see tasks. */
export interface TaskRoot extends Actor<[context: string]> {
  /** @concurrent */
  describe(): ContextDescription;
  /**
   * Creates an actor, or finds the one that has the name. Throws ActorNameTakenError if another actor has the name.
   *
   * @concurrent
   */
  actor(request: ActorRequest): ActorFound;
  /**
   * Finds an actor by its name. Waits while the actor is being created. Answers null if there is none.
   *
   * @concurrent
   */
  findActor(name: string): ActorFound | null;
  /**
   * Stops an actor with a name. Answers false if there is none.
   *
   * @concurrent
   */
  stopActor(name: string): boolean;
  /**
   * Stops an actor. An unknown number has no effect.
   *
   * @param drain the time in milliseconds in which the actor still handles messages that it has been sent
   * @concurrent
   */
  endActor(id: Uint64, reason: string, drain: Uint32): void;
  /**
   * A host reports that an actor has failed for good.
   *
   * @concurrent
   */
  actorEnded(id: Uint64, reason: string): void;
  /**
   * Reserves all bundles or none, and answers with the host of each.
   *
   * @concurrent
   */
  reserve(
    group: Uint64,
    bundles: Record<string, number>[],
    strategy: "pack" | "spread" | "strictPack" | "strictSpread",
    timeout: Uint32,
  ): PlacedBundle[];
  /** @concurrent */
  unreserve(group: Uint64): void;
}

/** The order to create a detached actor, whose resources are held by the context that asks. */
export interface DetachedOrder {
  name: string;
  getIfExists: boolean;
  /** The random id of the daemon of its host. */
  host: Uint64;
  registry: string;
  classId: string;
  /** The arguments of the constructor, encoded with the codec of the schema. */
  args: Uint8Array;
  restarts: Uint32;
  resources: Record<string, number>;
  gpus: Uint32[];
  /** The environment variables of its process. */
  env: Record<string, string>;
  /** The number of calls after which its process is replaced. Absent: there is no limit. */
  maxCalls?: Uint32;
}

/** A detached actor. It is published by its name. */
export interface DetachedActor {
  /** The number of the actor, unique on its controller. */
  id: Uint64;
  name: string;
  /** The URL of the registry of its class, and the id of the class in it. */
  registry: string;
  classId: string;
  /** The time of the request for it, in milliseconds since 1970. */
  since: number;
  /** The random id of the daemon of its host. */
  host: Uint64;
  resources: Record<string, number>;
  gpus: Uint32[];
  /** Whether this request has created it. */
  created: boolean;
  /** The number of processes that it has had before this one. Absent except in lists. */
  incarnation?: Uint32;
  /** Whether it is being created again after a failure. Absent: it lives. */
  isRestarting?: boolean;
}

/**
 * The detached actors of some hosts. It lives in a controller there, and owns them. Programs find it by its published name, so
 * its messages contain no handles.
 */
export interface DetachedActors extends Actor {
  /**
   * Creates an actor and publishes it, or finds the one that has the name. Throws ActorNameTakenError if another actor has the
   * name.
   *
   * @concurrent
   */
  create(order: DetachedOrder): DetachedActor;
  /**
   * Finds an actor by its name. Waits while the actor is being created. Answers null if there is none.
   *
   * @concurrent
   */
  find(name: string): DetachedActor | null;
  /**
   * Stops an actor and its process. An unknown number has no effect.
   *
   * @param drain the time in milliseconds in which the actor still handles messages that it has been sent
   * @concurrent
   */
  end(id: Uint64, reason: string, drain: Uint32): void;
  /** @concurrent */
  list(): DetachedActor[];
  /**
   * Answers when an actor has ended.
   *
   * @concurrent
   */
  untilEnded(id: Uint64): void;
}
