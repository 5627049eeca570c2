/**
 * Starts the processes that take the places of others: those that restarts need, and those of rolling upgrades, whose
 * options hold for later restarts of their ranks, too. `replace-child.ts` carries out one replacement.
 */
import { NoMessageTurn, runInTurn } from "../../actor/context.js";
import type { LocalActor } from "../../actor/reference/local-actor.js";
import { reasonSuffix } from "../../actor/reference/mesh-record.js";
import { baseRanks, type Region } from "../../shape/index.js";
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
    await replaceChild(this.#procs, started, drain, keepsState);
    this.#overrides.set(rank, start);
  }
}

/** Registers a process that is not installed yet. Until then its exit is not a failure of the mesh. */
function registerStarting(started: StartedChild): StartedChild {
  started.child.isExitExpected = true;
  return started;
}
