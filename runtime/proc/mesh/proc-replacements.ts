/**
 * Starts the processes that take the places of others: those that restarts need, and those of rolling upgrades, whose
 * options hold for later restarts of their ranks, too. `replace-child.ts` carries out one replacement.
 */
import { NoMessageTurn, runInTurn } from "../../actor/context.js";
import type { LocalActor } from "../../actor/reference/local-actor.js";
import { reasonSuffix } from "../../actor/reference/mesh-record.js";
import { baseRanks, type Region } from "../../shape/index.js";
import { failureCauseOf } from "../../supervise/failure-cause.js";
import type { ChildProc } from "./child-proc.js";
import { type ReplaceableProcs, replaceChild, type StartedChild } from "./replace-child.js";

/** Starts a process for the proc with a number. */
export type StartProc = (rank: number) => StartedChild;

/** The mesh of procs whose processes are replaced. */
export interface UpgradedProcs extends ReplaceableProcs {
  readonly owner: LocalActor;
  /** Why the mesh was stopped; undefined as long as it was not. */
  readonly stopReason: string | undefined;
  /** Notes a process that has been started and is not installed yet, so that the stop of the mesh ends it. */
  addStarting(child: ChildProc): void;
}

/** The number of attempts to replace a process whose actor has handled as many messages as it may. */
const MOST_ATTEMPTS = 3;

/** The time in milliseconds for messages to a process whose actor passes them on: in effect, as long as there are any. */
const NO_LIMIT = 2 ** 31 - 1;

export class ProcReplacements {
  readonly #procs: UpgradedProcs;
  readonly #start: StartProc;
  /** The start functions of ranks that `replace` has given one of their own. */
  readonly #overrides = new Map<number, StartProc>();
  /** The number of calls of `replace` that are under way. */
  #underWay = 0;

  /** @param start starts a process with the options of the mesh */
  constructor(procs: UpgradedProcs, start: StartProc) {
    this.#procs = procs;
    this.#start = start;
  }

  /** Whether `replace` is under way. */
  get isReplacing(): boolean {
    return this.#underWay > 0;
  }

  /**
   * Replaces a proc whose actor has handled as many messages as its plan allows. The other messages wait in the old process, which
   * passes them on. If no process can take its place, the proc ends as after a failure.
   */
  renew(rank: number): void {
    void this.#renew(rank);
  }

  async #renew(rank: number): Promise<void> {
    const old = this.#procs.childAt(rank);
    const isWanted = () => this.#procs.childAt(rank) === old && old.exit === undefined && !this.#isStopped;
    this.#underWay++;
    try {
      for (let attempt = 1; isWanted(); attempt++) {
        const error = await this.#tryToRenew(rank);
        if (error === undefined) return;
        if (attempt >= MOST_ATTEMPTS && isWanted()) old.discard({ kind: "spawn", cause: failureCauseOf(error) });
      }
    } finally {
      this.#underWay--;
    }
  }

  /** Returns why the proc was not replaced; undefined if it was. */
  async #tryToRenew(rank: number): Promise<unknown> {
    try {
      const started = this.startChild(rank);
      this.#procs.addStarting(started.child);
      await replaceChild(this.#procs, started, { drain: NO_LIMIT, keepsState: true, needsOld: true });
      return undefined;
    } catch (error) {
      return error;
    }
  }

  get #isStopped(): boolean {
    return this.#procs.stopReason !== undefined;
  }

  /** Starts a process for a rank in the same way as its predecessor. Until it is installed, its exit is no failure. */
  startChild(rank: number): StartedChild {
    const start = this.#overrides.get(rank) ?? this.#start;
    // Runs as the owner: it gave the options, which may contain functions.
    return registerStarting(runInTurn(new NoMessageTurn(this.#procs.owner), () => start(rank)) as StartedChild);
  }

  /** Records that a rank has joined the mesh, with the options of the mesh. */
  rankJoined(rank: number): void {
    this.#overrides.delete(rank);
  }

  /**
   * Replaces procs, one after another.
   * @param keepsState whether actors that can save their state pass it on
   * @throws Error if a proc cannot be replaced; it and the procs after it continue unchanged
   */
  async replace(region: Region, start: StartProc, drain: number, keepsState: boolean): Promise<void> {
    this.#underWay++;
    try {
      for (const rank of baseRanks(region)) await this.#replaceOne(rank, start, drain, keepsState);
    } finally {
      this.#underWay--;
    }
  }

  async #replaceOne(rank: number, start: StartProc, drain: number, keepsState: boolean): Promise<void> {
    const { name, stopReason } = this.#procs;
    if (stopReason !== undefined) {
      throw new Error(`cannot replace rank ${rank} of mesh "${name}": it was stopped${reasonSuffix(stopReason)}`);
    }
    const started = registerStarting(start(rank));
    this.#procs.addStarting(started.child);
    await replaceChild(this.#procs, started, { drain, keepsState });
    this.#overrides.set(rank, start);
  }
}

/** Registers a process that is not installed yet. Until then its exit is not a failure of the mesh. */
function registerStarting(started: StartedChild): StartedChild {
  started.child.isExitExpected = true;
  return started;
}
