/**
 * What a process knows of a mesh: one record for all handles and slices of it, so that whoever sends to an actor, by
 * whatever handle, uses the same session. Handles are told of in mesh.ts.
 */
import { AGENT_MESH, type Location, type MeshId, type ProcId } from "../../link/address.js";
import { chainToken } from "../../link/extension.js";
import type { Leaving } from "../../link/leaving.js";
import type { Sender, Session, SessionTarget } from "../../link/session.js";
import { checkOptionNames, describeValue, type Extent, extentSize } from "../../shape/index.js";
import { currentCell } from "../context.js";
import type { DropDetector, DroppableReference } from "../proc/drop-watch.js";
import { Downtime } from "./downtime.js";

/** Where one rank lives. */
export interface RankLocation {
  readonly proc: ProcId;
  readonly location: Location;
  /** How many times the actor has moved, which is the incarnation that lives there. */
  readonly generation?: number;
}

/** One actor as those who send to it know it; also the key of their sessions. */
export class ActorTarget implements SessionTarget {
  readonly kind = "actor";
  readonly fingerprint = 0n;
  readonly mesh: MeshRecord;
  readonly rank: number;
  proc: ProcId;
  location: Location;
  generation: number;
  /** Set while this process knows that the actor has ended and does not know that it is back. */
  downtime: Downtime | undefined;
  readonly #sessions = new Set<Session>();
  /** The records of messages that were sent to the actor's former processes and have not been handled or answered. */
  #leaving: Set<Leaving> | undefined;
  #token: readonly [number, number] | undefined;

  constructor(mesh: MeshRecord, rank: number, { proc, location, generation = 0 }: RankLocation) {
    this.mesh = mesh;
    this.rank = rank;
    this.proc = proc;
    this.location = location;
    this.generation = generation;
  }

  /** Somebody in this process sends to it. */
  sessionOpened(session: Session): void {
    this.#sessions.add(session);
    for (const before of this.leavingOf(session.sender)) session.waitFor(before);
  }

  /** Returns the messages of a sender to former processes of the actor that its later messages wait for. */
  leavingOf(sender: Sender): Leaving[] {
    if (this.#leaving === undefined) return [];
    return [...this.#leaving].filter((leaving) => leaving.sender === sender && !leaving.isHandled);
  }

  /** Resolves when nothing that was sent from here to where it lives waits here any more. */
  async whenSent(): Promise<void> {
    await Promise.all([...this.#sessions].map((session) => new Promise<void>((sent) => session.afterSending(sent))));
  }

  /** Resolves when everything that was sent to where the actor lived before has been handled and answered. */
  async whenFormerHandled(): Promise<void> {
    const leaving = [...(this.#leaving ?? [])];
    await Promise.all(leaving.map((before) => new Promise<void>((over) => before.afterAnswers(over))));
  }

  /** The process that it has left handles nothing any more: what is sent from now on does not wait for that. */
  abandonFormer(): void {
    for (const leaving of [...(this.#leaving ?? [])]) leaving.handled();
  }

  sessionClosed(session: Session): void {
    this.#sessions.delete(session);
  }

  /** It lives elsewhere from now on: what is sent from now on goes there, and what has been sent is left to the old one. */
  move({ proc, location, generation = 0 }: RankLocation): void {
    if (generation < this.generation) return;
    if (generation > this.generation) this.markBack();
    const moved = proc !== this.proc;
    this.proc = proc;
    this.location = location;
    this.generation = generation;
    if (moved) for (const session of [...this.#sessions]) this.#retireSession(session);
  }

  #retireSession(session: Session): void {
    const leaving = session.retire();
    // The agents of two processes have nothing to do with each other.
    if (leaving === undefined || this.mesh.id === AGENT_MESH) return;
    this.#leaving ??= new Set();
    this.#leaving.add(leaving);
    leaving.afterAnswers(() => this.#leaving?.delete(leaving));
  }

  /** It has ended, for now or for good. */
  markDown(): Downtime {
    this.downtime ??= new Downtime();
    return this.downtime;
  }

  /** It is there again. */
  markBack(): void {
    this.downtime?.end();
    this.downtime = undefined;
  }

  get number(): MeshId {
    return this.mesh.id;
  }

  get owner(): ProcId {
    return this.mesh.owner;
  }

  /** Its name in call chains. */
  get token(): readonly [number, number] {
    this.#token ??= chainToken({ proc: this.proc, mesh: this.mesh.id, rank: this.rank });
    return this.#token;
  }
}

/** Somebody in this process who casts to a mesh. */
export interface MeshCastSender {
  /** The actor at a rank is about to move: sees to it that there is a session to where it lives, if anything was cast to it. */
  leaves(rank: number): void;
  /** Actors have moved. */
  followMoves(): void;
  /** Resolves when everything is over that was cast to actors where they lived before. */
  left(): Promise<void>;
}

/** What the owner of a mesh can do with it; absent where a mesh is only referred to. */
export interface MeshControl {
  /** Resolves when all actors are there, rejects with why one is not. Never raises unhandledRejection. */
  readonly ready: Promise<void>;
  /** Idempotent, never rejects. */
  stop(options: MeshStopOptions): Promise<void>;
}

/** The options of `stop`. */
export interface MeshStopOptions {
  /** The reason, which appears in the errors of later calls. Default: no reason. */
  readonly reason?: string;
  /** The time in which queued messages are still handled, in milliseconds, from 0 to 2^32 - 1. Default: 5,000. */
  readonly drain?: number;
}

/** Stands for a reason where none was given. */
export const noReason = "stopped";

/** Returns the text that follows "was stopped": `: enough`, or nothing if nobody has given a reason. */
export function reasonSuffix(reason: string): string {
  return reason === noReason ? "" : `: ${reason}`;
}

/** @param name of the mesh. @throws TypeError, RangeError */
export function checkStopOptions(name: string, options: MeshStopOptions): void {
  const failed = `cannot stop mesh "${name}"`;
  checkOptionNames(failed, options, ["reason", "drain"]);
  const { reason = "", drain = 0 } = options;
  if (typeof reason !== "string")
    throw new TypeError(`${failed}: expected a text as reason, got ${describeValue(reason)}`);
  if (typeof drain === "number" && drain >= 0 && drain <= 0xffff_ffff) return;
  throw new RangeError(`${failed}: expected drain in milliseconds, at least 0, got ${describeValue(drain)}`);
}

export interface MeshIdentity {
  readonly id: MeshId;
  /** As it was spawned. */
  readonly name: string;
  /** The proc whose actor made it. */
  readonly owner: ProcId;
  readonly extent: Extent;
}

export class MeshRecord implements MeshIdentity {
  readonly id: MeshId;
  readonly name: string;
  readonly owner: ProcId;
  readonly extent: Extent;
  /** The number of ranks, as it was spawned. */
  readonly size: number;
  control: MeshControl | undefined;
  /** Why nothing can be sent to it any more, as far as this process has decided so. */
  stopReason: string | undefined;
  /** One more each time that one of its actors has moved to another proc. */
  moves = 0;
  /** The casters of this process that have trees to the mesh. */
  readonly castSenders = new Set<MeshCastSender>();
  /** By rank in the mesh as it was spawned; those that this process has heard of. */
  readonly #targets = new Map<number, ActorTarget>();

  constructor({ id, name, owner, extent }: MeshIdentity) {
    this.id = id;
    this.name = name;
    this.owner = owner;
    this.extent = extent;
    this.size = extentSize(extent);
  }

  /** The actor at a rank of the mesh as it was spawned. */
  target(rank: number): ActorTarget {
    const target = this.#targets.get(rank);
    if (target === undefined)
      throw new RangeError(`cannot find rank ${rank} of mesh "${this.name}": its place is unknown`);
    return target;
  }

  /** The proc of a rank, if this process has heard of it. */
  procAt(rank: number): ProcId | undefined {
    return this.#targets.get(rank)?.proc;
  }

  /** Where a rank lives, or lives from now on: a rank that was replaced may be in another process. */
  setLocation(rank: number, location: RankLocation): void {
    const target = this.#targets.get(rank);
    if (target === undefined) {
      this.#targets.set(rank, new ActorTarget(this, rank, location));
      return;
    }
    const { proc, generation } = target;
    const moves = location.proc !== proc && (location.generation ?? 0) >= generation;
    if (moves) for (const caster of this.castSenders) caster.leaves(rank);
    target.move(location);
    if (!moves) return;
    this.moves++;
    for (const caster of this.castSenders) caster.followMoves();
  }

  /** Resolves when nothing that was sent from here to the actors of the mesh waits here any more, for whatever. */
  async whenSent(): Promise<void> {
    await Promise.all([...this.#targets.values()].map((target) => target.whenSent()));
  }

  /** Resolves when everything that was sent from here to where actors of the mesh lived before has been handled and answered. */
  async whenFormerHandled(): Promise<void> {
    const targets = [...this.#targets.values()].map((target) => target.whenFormerHandled());
    await Promise.all([...targets, ...[...this.castSenders].map((caster) => caster.left())]);
  }
}

/** An actor lives in another process from now on. */
export interface RecordedMove extends RankLocation {
  readonly mesh: MeshId;
  readonly rank: number;
  readonly generation: number;
  /** Whether the process that it has left still handles what was sent to it there. */
  readonly drains?: boolean | undefined;
}

/** Meshes with moves that are remembered: the oldest are forgotten, and owners are asked for their actors. */
const MOST_REMEMBERED_MOVES = 1024;

/** What one operating-system process knows of meshes: one record of each, made on first sight. */
export class MeshRecords {
  readonly #records = new Map<MeshId, DroppableReference<MeshRecord>>();
  readonly #drops: DropDetector;
  /** The last move of each actor, by mesh and rank: references that were sent before it may come after it. */
  readonly #moves = new Map<MeshId, Map<number, RecordedMove>>();

  /** @param drops tells of records that nobody has any more */
  constructor(drops: DropDetector) {
    this.#drops = drops;
  }

  /** What is known of a mesh. */
  find(id: MeshId): MeshRecord | undefined {
    return this.#records.get(id)?.deref();
  }

  /** The one record of a mesh. @param key by which it is known, where ids do not tell meshes apart */
  findOrCreate(identity: MeshIdentity, key = identity.id): MeshRecord {
    const known = this.find(key);
    if (known !== undefined) return known;
    const made = new MeshRecord(identity);
    this.#records.set(key, this.#drops.reference(made));
    this.#drops.watch(made, { dropped: () => this.#forget(key) });
    for (const [rank, move] of this.#moves.get(key) ?? []) made.setLocation(rank, move);
    return made;
  }

  /** The moves that are remembered. */
  get moves(): readonly RecordedMove[] {
    return [...this.#moves.values()].flatMap((moves) => [...moves.values()]);
  }

  /**
   * An actor has moved, whether its mesh is known here or not.
   * @returns when everything that was sent from here to where it lived before has been handled and answered
   */
  async recordMove(move: RecordedMove): Promise<void> {
    const { mesh, rank, generation, drains = false } = move;
    let moves = this.#moves.get(mesh);
    if ((moves?.get(rank)?.generation ?? 0) > generation) return;
    moves ??= new Map();
    moves.set(rank, move);
    // The last to change stands last.
    this.#moves.delete(mesh);
    this.#moves.set(mesh, moves);
    if (this.#moves.size > MOST_REMEMBERED_MOVES) this.#moves.delete(this.#moves.keys().next().value!);
    const record = this.find(mesh);
    record?.setLocation(rank, move);
    if (drains) await record?.whenFormerHandled();
    else if (record?.procAt(rank) === move.proc) record.target(rank).abandonFormer();
  }

  #forget(key: MeshId): void {
    if (this.find(key) === undefined) this.#records.delete(key);
  }
}

/** The record of a mesh in the process that the running code belongs to. */
export function currentMeshRecord(identity: MeshIdentity): MeshRecord {
  return currentCell().proc.records.findOrCreate(identity);
}
