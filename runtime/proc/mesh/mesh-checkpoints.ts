/**
 * The checkpoints of one mesh of actors, in the process that has spawned it: when they are taken, and in which store they
 * are kept. An actor saves its state in its own process, between two of its messages; the transfer and the store take their
 * time while it goes on.
 */
import { type Checkpoint, CheckpointCodec } from "../../../generated/checkpoint.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import { ActorError, DeliveryError, SupervisionError } from "../../actor/errors.js";
import type { Clock, Timer } from "../../link/clock.js";
import { CheckpointError } from "../../supervise/checkpoint-error.js";
import { type CheckpointStore, MemoryStore } from "../../supervise/checkpoint-store.js";
import type { CheckpointPlan } from "../../supervise/restart-policy.js";
import { settlesWithin } from "../time-limit.js";

/** The time in which a store must answer before an actor is created, in milliseconds. */
const READ_MS = 30_000;

/** A mesh whose actors are checkpointed. */
export interface CheckpointedMesh {
  /** The name that was given to `spawn`. */
  readonly name: string;
  readonly size: number;
  /** Returns whether an actor lives, as far as its owner knows. */
  isLiving(rank: number): boolean;
  /** Returns whether a rank does not belong to the mesh any more, because the mesh was resized. */
  hasLeft(rank: number): boolean;
  /** Saves the state of an actor. Rejects if the actor has ended or its state cannot be saved. */
  save(rank: number): Promise<Checkpoint>;
  /** Emits a process warning. */
  warn(text: string): void;
}

export class MeshCheckpoints {
  readonly #mesh: CheckpointedMesh;
  readonly #clock: Clock;
  readonly #every: number | undefined;
  readonly #store: CheckpointStore;
  /** Whether checkpoints outlive the mesh, because the user has given a store. */
  readonly isDurable: boolean;
  #timer: Timer | undefined;
  /** The checkpoints that are being taken and stored, by rank. They never reject. */
  readonly #running = new Map<number, Promise<CheckpointError | undefined>>();
  /** Those that begin when the running one of their rank has ended. */
  readonly #next = new Map<number, Promise<CheckpointError | undefined>>();
  /** Ranks whose last regular checkpoint has failed. The user is warned of the first failure only. */
  readonly #failing = new Set<number>();
  /** How many times each rank has left the mesh. A state that was saved before is not stored afterwards. */
  readonly #departures = new Map<number, number>();

  constructor(mesh: CheckpointedMesh, { every, store }: CheckpointPlan, clock: Clock) {
    this.#mesh = mesh;
    this.#clock = clock;
    this.#every = every;
    this.#store = store ?? new MemoryStore();
    this.isDurable = store !== undefined;
  }

  /** Starts to take checkpoints at regular times, if the plan says so. */
  start(): void {
    if (this.#every !== undefined) this.#schedule(this.#every);
  }

  /** Takes no more checkpoints at regular times. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /**
   * Takes a checkpoint of each of the given ranks, of a state not older than this call.
   *
   * @throws {CheckpointError} as a rejection, for the first rank that failed, when all have been tried
   */
  async take(ranks: readonly number[]): Promise<void> {
    const outcomes = await Promise.all(ranks.map((rank) => this.#request(rank)));
    const [first, ...others] = outcomes.filter((outcome) => outcome !== undefined);
    if (first === undefined) return;
    const { mesh, rank, message, cause } = first;
    const why = message.slice(message.indexOf(": ") + 2);
    throw others.length === 0 ? first : new CheckpointError("checkpoint", mesh, rank, why, cause, others);
  }

  /**
   * Returns the last checkpoint of a rank, or undefined if there is none. Waits for one that is being stored.
   *
   * @throws {CheckpointError} as a rejection, when the store fails, does not answer, or returns something else
   */
  async read(rank: number): Promise<Checkpoint | undefined> {
    const { name } = this.#mesh;
    const failed = (why: string, cause?: unknown) => new CheckpointError("restore", name, rank, why, cause);
    const stored = Promise.all([this.#running.get(rank), this.#next.get(rank)]);
    const answer = stored.then(() => this.#store.read({ mesh: name, rank }));
    if (!(await settlesWithin(this.#clock, READ_MS, answer))) {
      throw failed(`its store did not answer within ${READ_MS} ms`);
    }
    let checkpoint: Checkpoint | undefined;
    try {
      checkpoint = await answer;
      if (checkpoint === undefined) return undefined;
      // A store can return anything, and the actor must not be created without its state.
      CheckpointCodec.encode({ ...checkpoint, state: checkpoint.state.subarray(0, 0) });
    } catch (error) {
      throw failed(`its store failed: ${errorMessage(error)}`, error);
    }
    if (checkpoint.mesh === name && checkpoint.rank === rank) return checkpoint;
    throw failed(`its store returned the checkpoint of ${checkpoint.mesh}[${checkpoint.rank}]`);
  }

  /** Stores the last state of an actor that is being stopped, after those that are being stored. */
  async storeLast(rank: number, checkpoint: Checkpoint): Promise<void> {
    await Promise.all([this.#running.get(rank), this.#next.get(rank)]);
    await this.#store.write({ mesh: this.#mesh.name, rank }, checkpoint);
  }

  /**
   * Releases the checkpoint of a rank that leaves the mesh. If the rank returns, it begins with fresh state. A store of the user
   * keeps its checkpoints.
   */
  release(rank: number): void {
    this.#failing.delete(rank);
    if (this.isDurable) return;
    this.#departures.set(rank, this.#departuresOf(rank) + 1);
    void this.#store.delete({ mesh: this.#mesh.name, rank });
  }

  #departuresOf(rank: number): number {
    return this.#departures.get(rank) ?? 0;
  }

  #schedule(every: number): void {
    this.#timer = this.#clock.after(every, () => {
      for (let rank = 0; rank < this.#mesh.size; rank++) void this.#takeRegularly(rank);
      this.#schedule(every);
    });
  }

  /** Takes a checkpoint of a rank, unless the one before is still on its way to a slow store. */
  async #takeRegularly(rank: number): Promise<void> {
    if (this.#running.has(rank) || !this.#mesh.isLiving(rank)) return;
    const error = await this.#request(rank);
    if (error === undefined) this.#failing.delete(rank);
    // The end of an actor or of its process is reported elsewhere.
    else if (this.#timer !== undefined && !isEndOfActor(error.cause) && !this.#failing.has(rank)) {
      this.#failing.add(rank);
      this.#mesh.warn(error.message);
    }
  }

  #request(rank: number): Promise<CheckpointError | undefined> {
    const running = this.#running.get(rank);
    if (running === undefined) return this.#begin(rank);
    // The running checkpoint may have an earlier state. All that is requested meanwhile is served by the next one.
    let next = this.#next.get(rank);
    if (next === undefined) {
      next = running.then(() => {
        this.#next.delete(rank);
        return this.#begin(rank);
      });
      this.#next.set(rank, next);
    }
    return next;
  }

  #begin(rank: number): Promise<CheckpointError | undefined> {
    const taken = this.#saveAndStore(rank).then(
      () => undefined,
      (error) => new CheckpointError("checkpoint", this.#mesh.name, rank, reasonOf(error), error),
    );
    const done = taken.finally(() => this.#running.delete(rank));
    this.#running.set(rank, done);
    return done;
  }

  async #saveAndStore(rank: number): Promise<void> {
    const departures = this.#departuresOf(rank);
    const hasStayed = () => !this.#mesh.hasLeft(rank) && departures === this.#departuresOf(rank);
    const checkpoint = hasStayed() ? await this.#mesh.save(rank) : undefined;
    if (checkpoint === undefined || !hasStayed()) throw new Error("the actor has left the mesh, which was resized");
    try {
      await this.#store.write({ mesh: this.#mesh.name, rank }, checkpoint);
    } catch (error) {
      throw new Error(`its store failed: ${errorMessage(error)}`, { cause: error });
    }
  }
}

/** Returns whether a state was not saved because the actor or its process has ended. */
function isEndOfActor(error: unknown): boolean {
  if (error instanceof ActorError) return error.remoteName === "DeliveryError";
  return error instanceof SupervisionError || error instanceof DeliveryError;
}

/** Returns why a state was not saved, without the failed call to the agent of its process. */
function reasonOf(error: unknown): string {
  const text = errorMessage(error);
  return error instanceof SupervisionError ? text.slice(text.indexOf(": ") + 2) : text;
}
