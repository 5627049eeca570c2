/**
 * The record of a mesh: what a process knows of it. All handles and slices of the mesh share one record, so that all
 * messages from one sender to an actor use the same session. The handles are in mesh/actor-mesh.ts.
 */

import { describeValue } from "../../../shared/text/describe-value.js";
import { AGENT_MESH, type Location, type MeshId, type ProcId } from "../../link/address.js";
import { DeliveryError } from "../../link/errors.js";
import { chainToken } from "../../link/frame/message-extension.js";
import type { MessageSender, SessionTarget } from "../../link/outbound/message-sender.js";
import type { Session } from "../../link/outbound/session.js";
import type { UnhandledMessages } from "../../link/outbound/unhandled-messages.js";
import { checkOptionNames, type Extent, extentSize, type Region } from "../../shape/index.js";
import type { DropDetector, DroppableReference } from "../proc/drop-watch.js";
import { Downtime } from "./downtime.js";

/** The location of the actor at one rank. */
export interface RankLocation {
  readonly proc: ProcId;
  readonly location: Location;
  /** How many times the actor has moved. It equals the incarnation that lives at this location. */
  readonly generation?: number;
  /** Why the rank has left the mesh, which was resized. Undefined while it belongs to the mesh. */
  readonly left?: string | undefined;
}

/** One actor as its senders know it. It is also the key of their sessions. */
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
  /** The error of calls to an actor that has left its mesh, which was resized. Undefined while it belongs to the mesh. */
  departure: DeliveryError | undefined;
  readonly #sessions = new Set<Session>();
  /** Records of the messages that were sent to the actor's former processes and are not yet handled or answered. */
  #leaving: Set<UnhandledMessages> | undefined;
  #token: readonly [number, number] | undefined;

  constructor(mesh: MeshRecord, rank: number, { proc, location, generation = 0, left }: RankLocation) {
    this.mesh = mesh;
    this.rank = rank;
    this.proc = proc;
    this.location = location;
    this.generation = generation;
    if (left !== undefined) this.#markLeft(left);
  }

  /** Registers a session from an actor of this process. */
  sessionOpened(session: Session): void {
    this.#sessions.add(session);
    for (const before of this.leavingOf(session.sender)) session.waitForFormer(before);
  }

  /**
   * Returns the messages of `sender` to former processes of the actor that are not yet handled. Later messages of the
   * sender wait for them.
   */
  leavingOf(sender: MessageSender): UnhandledMessages[] {
    if (this.#leaving === undefined) return [];
    return [...this.#leaving].filter((leaving) => leaving.sender === sender && !leaving.isHandled);
  }

  /** Resolves when all messages that this process has queued for the actor's current location are sent. */
  async whenSent(): Promise<void> {
    await Promise.all([...this.#sessions].map((session) => new Promise<void>((sent) => session.afterAllSent(sent))));
  }

  /** Resolves when all messages that were sent to the actor's former locations are handled and answered. */
  async whenFormerHandled(): Promise<void> {
    const leaving = [...(this.#leaving ?? [])];
    await Promise.all(leaving.map((before) => new Promise<void>((over) => before.afterAnswers(over))));
  }

  /** Stops waiting for the former processes: they handle no more messages, so new messages go out without waiting. */
  abandonFormer(): void {
    for (const leaving of [...(this.#leaving ?? [])]) leaving.markHandled();
  }

  sessionClosed(session: Session): void {
    this.#sessions.delete(session);
  }

  /**
   * Records the actor's new location, or that it has left the mesh. Later messages go to the new location; messages that
   * are already sent stay with the old process.
   */
  move({ proc, location, generation = 0, left }: RankLocation): void {
    if (generation < this.generation) return;
    if (generation > this.generation) this.markBack();
    const leaves = left !== undefined && this.departure === undefined;
    const moved = proc !== this.proc || leaves;
    if (leaves) this.#markLeft(left);
    this.proc = proc;
    this.location = location;
    this.generation = generation;
    if (moved) for (const session of [...this.#sessions]) this.#retireSession(session);
  }

  #retireSession(session: Session): void {
    const leaving = session.retire();
    // The agents of two processes are different actors, so they need no order between them.
    if (leaving === undefined || this.mesh.id === AGENT_MESH) return;
    this.#leaving ??= new Set();
    this.#leaving.add(leaving);
    leaving.afterAnswers(() => this.#leaving?.delete(leaving));
  }

  /** Records that the actor has ended, for now or for good. */
  markDown(): Downtime {
    this.downtime ??= new Downtime();
    return this.downtime;
  }

  /** Records that the actor is back. */
  markBack(): void {
    this.downtime?.end();
    this.downtime = undefined;
    this.departure = undefined;
  }

  #markLeft(why: string): void {
    this.departure = new DeliveryError("stopped", `it has left the mesh: ${why}`);
    this.markDown().markLost();
  }

  get number(): MeshId {
    return this.mesh.id;
  }

  get owner(): ProcId {
    return this.mesh.owner;
  }

  /** The actor's name in call chains. */
  get token(): readonly [number, number] {
    this.#token ??= chainToken({ proc: this.proc, mesh: this.mesh.id, rank: this.rank });
    return this.#token;
  }
}

/** A sender in this process that casts to a mesh. */
export interface MeshCastSender {
  /**
   * Called before the actor at `rank` moves or leaves. Opens a session to the actor's current location if anything was cast to
   * it.
   */
  openBeforeMove(rank: number): void;
  /** Called after actors have moved or left. */
  followMoves(): void;
  /** Resolves when all casts to the actors' former locations are finished. */
  whenFormerHandled(): Promise<void>;
}

/** The operations that only the owner of a mesh has. Processes that merely refer to the mesh have none. */
export interface MeshControl {
  /**
   * Resolves when all actors have started; rejects with the reason if one cannot start. Never raises
   * unhandledRejection.
   */
  readonly ready: Promise<void>;
  /** Stops the mesh. Idempotent, never rejects. */
  stop(options: MeshStopOptions): Promise<void>;
  /**
   * Takes checkpoints of actors, and resolves when they are stored.
   *
   * @param ranks in the mesh that was spawned
   * @throws {Error} when the mesh has no checkpoints
   */
  checkpoint(ranks: readonly number[]): Promise<void>;
  /** Returns whether a region has all ranks that the mesh has now, or had when it was spawned or resized. */
  isWhole(region: Region): boolean;
}

/** The options of `stop`. */
export interface MeshStopOptions {
  /** The reason, which appears in the errors of later calls. Default: no reason. */
  readonly reason?: string;
  /** The time in which queued messages are still handled, in milliseconds, from 0 to 2^32 - 1. Default: 5,000. */
  readonly drain?: number;
}

/** The text that replaces a missing reason. */
export const noReason = "stopped";

/** Returns the text that follows "was stopped": `: enough`, or an empty string if no reason was given. */
export function reasonSuffix(reason: string): string {
  return reason === noReason ? "" : `: ${reason}`;
}

/**
 * Checks the options of `stop`.
 *
 * @param name of the mesh
 * @throws {TypeError} when an option is unknown or the reason is not a string
 * @throws {RangeError} when `drain` is out of range
 */
export function checkStopOptions(name: string, options: MeshStopOptions): void {
  const failed = `cannot stop mesh "${name}"`;
  checkOptionNames(failed, options, ["reason", "drain"]);
  const { reason = "", drain = 0 } = options;
  if (typeof reason !== "string")
    throw new TypeError(`${failed}: expected a text as reason, got ${describeValue(reason)}`);
  checkDrain(failed, drain);
}

/** @throws {RangeError} when `drain` is out of range. @param failed the start of the error message */
export function checkDrain(failed: string, drain: unknown): void {
  if (typeof drain === "number" && drain >= 0 && drain <= 0xffff_ffff) return;
  throw new RangeError(`${failed}: expected drain in milliseconds, at least 0, got ${describeValue(drain)}`);
}

export interface MeshIdentity {
  readonly id: MeshId;
  /** The name that was given to `spawn`. */
  readonly name: string;
  /** The proc whose actor spawned the mesh. */
  readonly owner: ProcId;
  readonly extent: Extent;
}

export class MeshRecord implements MeshIdentity {
  readonly id: MeshId;
  readonly name: string;
  readonly owner: ProcId;
  readonly extent: Extent;
  /** The number of ranks of the spawned mesh. */
  readonly size: number;
  control: MeshControl | undefined;
  /** Why this process sends no more messages to the mesh. Undefined as long as this process has not decided so. */
  stopReason: string | undefined;
  /** The number of times that an actor of the mesh has moved to another proc, or has left the mesh. */
  moves = 0;
  /** The cast senders of this process that have trees to the mesh. */
  readonly castSenders = new Set<MeshCastSender>();
  /** The targets that this process knows, by rank in the spawned mesh. */
  readonly #targets = new Map<number, ActorTarget>();
  /** The number of ranks that this process knows, which grows when ranks join the mesh. */
  #rankCount = 0;
  /** Whether a rank has left the mesh at some time. */
  #isResized = false;

  constructor({ id, name, owner, extent }: MeshIdentity) {
    this.id = id;
    this.name = name;
    this.owner = owner;
    this.extent = extent;
    this.size = extentSize(extent);
  }

  /**
   * Returns the actor at a rank of the spawned mesh.
   * @throws {RangeError} when this process does not know its location
   */
  target(rank: number): ActorTarget {
    const target = this.#targets.get(rank);
    if (target === undefined)
      throw new RangeError(`cannot find rank ${rank} of mesh "${this.name}": its place is unknown`);
    return target;
  }

  /** Returns the proc of a rank, or undefined if this process does not know it. */
  procAt(rank: number): ProcId | undefined {
    return this.#targets.get(rank)?.proc;
  }

  /** Whether a rank has left the mesh at some time. It may have returned. */
  get isResized(): boolean {
    return this.#isResized;
  }

  /** One more than the highest rank that this process knows. */
  get rankCount(): number {
    return this.#rankCount;
  }

  /** Returns whether a rank has left the mesh, as far as this process knows. */
  hasLeft(rank: number): boolean {
    return this.#isResized && this.#targets.get(rank)?.departure !== undefined;
  }

  /** Sets the location of a rank. The location can change: a replaced actor can live in another process. */
  setLocation(rank: number, location: RankLocation): void {
    const target = this.#targets.get(rank);
    if (location.left !== undefined) this.#isResized = true;
    if (target === undefined) {
      this.#targets.set(rank, new ActorTarget(this, rank, location));
      this.#rankCount = Math.max(this.#rankCount, rank + 1);
      return;
    }
    const { proc, generation, departure } = target;
    const leaves = location.left !== undefined && departure === undefined;
    const moves = (location.proc !== proc || leaves) && (location.generation ?? 0) >= generation;
    if (moves) for (const caster of this.castSenders) caster.openBeforeMove(rank);
    target.move(location);
    if (!moves) return;
    this.moves++;
    for (const caster of this.castSenders) caster.followMoves();
  }

  /** Resolves when all messages that this process has queued for the actors of the mesh are sent. */
  async whenSent(): Promise<void> {
    await Promise.all([...this.#targets.values()].map((target) => target.whenSent()));
  }

  /** Resolves when all messages that this process sent to former locations of the actors are handled and answered. */
  async whenFormerHandled(): Promise<void> {
    const targets = [...this.#targets.values()].map((target) => target.whenFormerHandled());
    await Promise.all([...targets, ...[...this.castSenders].map((caster) => caster.whenFormerHandled())]);
  }
}

/** A move of an actor to another process. */
export interface RecordedMove extends RankLocation {
  readonly mesh: MeshId;
  readonly rank: number;
  readonly generation: number;
  /** Whether the former process still handles the messages that were sent to it. */
  readonly drains?: boolean | undefined;
}

/**
 * The number of meshes whose moves are remembered. Beyond it the oldest are forgotten, and the owners are asked for
 * their actors.
 */
const MOST_REMEMBERED_MOVES = 1024;

/**
 * The meshes that one operating-system process knows. It holds one record of each mesh, created at the first reference.
 */
export class MeshRecords {
  readonly #records = new Map<MeshId, DroppableReference<MeshRecord>>();
  readonly #drops: DropDetector;
  /** The last move of each actor, by mesh and rank. A reference that was sent before the move can arrive after it. */
  readonly #moves = new Map<MeshId, Map<number, RecordedMove>>();

  /** @param drops reports records that nothing refers to any more */
  constructor(drops: DropDetector) {
    this.#drops = drops;
  }

  /** Returns the record of a mesh, if there is one. */
  find(id: MeshId): MeshRecord | undefined {
    return this.#records.get(id)?.deref();
  }

  /**
   * Returns the one record of a mesh.
   *
   * @param key the key of the record, for callers whose mesh ids are not unique
   */
  findOrCreate(identity: MeshIdentity, key = identity.id): MeshRecord {
    const known = this.find(key);
    if (known !== undefined) return known;
    const made = new MeshRecord(identity);
    this.#records.set(key, this.#drops.reference(made));
    this.#drops.watch(made, { dropped: () => this.#forget(key) });
    for (const [rank, move] of this.#moves.get(key) ?? []) made.setLocation(rank, move);
    return made;
  }

  /** The remembered moves. */
  get moves(): readonly RecordedMove[] {
    return [...this.#moves.values()].flatMap((moves) => [...moves.values()]);
  }

  /**
   * Records a move of an actor, whether its mesh is known here or not.
   *
   * @returns a promise that resolves when all messages that this process sent to the former location are handled and
   * answered, if that process still handles them
   */
  async recordMove(move: RecordedMove): Promise<void> {
    const { mesh, rank, generation, drains = false } = move;
    let moves = this.#moves.get(mesh);
    if ((moves?.get(rank)?.generation ?? 0) > generation) return;
    moves ??= new Map();
    moves.set(rank, move);
    // Reinserted, so that the map is in the order of the last changes.
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
