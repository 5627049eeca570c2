/** The own process as a group on which actors are spawned. Its actors are created immediately. */
import type { Checkpoint } from "../../../generated/checkpoint.js";
import type { SpawnOutcome } from "../../../generated/proc-agent.js";
import type { Settled } from "../../actor/call/gather-call.js";
import type { Proc } from "../../actor/proc/proc.js";
import type { ActorFailure } from "../../actor/reference/actor-failure.js";
import type { RankLocation } from "../../actor/reference/mesh-record.js";
import type { StopOptions } from "../../actor/reference/stop-options.js";
import type { Region } from "../../shape/index.js";
import { actorNoticeOf } from "../agent/actor-notice.js";
import type { ProcRuntime } from "../agent/proc-runtime.js";
import { waitForPredecessor } from "../agent/wait-for-predecessor.js";
import { decodeArguments } from "../mesh/constructor-arguments.js";
import { ProcGroup } from "../mesh/proc-group.js";
import type { SpawnedActors } from "../mesh/spawned-actors.js";
import { countdown, settlesWithin } from "../time-limit.js";
import type { ProcessRuntime } from "./process-runtime.js";

export class OwnProc extends ProcGroup {
  readonly name = "this process";
  readonly extent = {};
  readonly ready = Promise.resolve();
  protected readonly stopReason = undefined;
  readonly #procRuntime: ProcRuntime;

  constructor(runtime: ProcessRuntime, here: ProcRuntime) {
    super(runtime);
    this.#procRuntime = here;
  }

  get proc(): Proc {
    return this.#procRuntime.proc;
  }

  locations(_region: Region): RankLocation[] {
    const { id, location } = this.proc;
    return [{ proc: id, location }];
  }

  protected createActors(mesh: SpawnedActors): void {
    const settle = (outcome: Settled<SpawnOutcome>) => mesh.recordOutcome(0, outcome);
    if (!mesh.checkpoints?.isDurable) this.#createActor(mesh, 0, undefined, settle);
    else mesh.orderLater(this.#createFromCheckpoint(mesh, 0, settle));
  }

  /** Creates the actor with its last checkpoint, if there is one. Never rejects. */
  async #createFromCheckpoint(
    mesh: SpawnedActors,
    incarnation: number,
    settle: (outcome: Settled<SpawnOutcome>) => void,
  ): Promise<void> {
    let saved: Checkpoint | undefined;
    try {
      saved = await mesh.checkpoints?.read(0);
    } catch (error) {
      const life = { mesh: mesh.record.id, rank: 0, incarnation };
      const failure: ActorFailure = { kind: "constructor", error, at: this.proc.clock.epochMs() };
      this.#procRuntime.refuseActor({ ...life, name: mesh.name, extent: {}, owner: this.proc.id }, failure);
      settle({ status: "fulfilled", value: { failure: { ...actorNoticeOf(life, failure), kind: "spawn" } } });
      return;
    }
    // The stop of a mesh waits for the first order, and for no other.
    if (incarnation === 0 || !mesh.isStopping) this.#createActor(mesh, incarnation, saved, settle);
  }

  saveActor({ record }: SpawnedActors): Promise<Checkpoint> {
    return this.#procRuntime.saveActor(record.id);
  }

  renewActor(): void {
    // Actors of this process have no limit of messages, because their process cannot be replaced.
  }

  async restartActor(mesh: SpawnedActors): Promise<void> {
    await waitForPredecessor(this.proc, mesh.record.id);
    if (mesh.isStopping) return;
    const incarnation = mesh.failures.nextIncarnation(0);
    await this.#createFromCheckpoint(mesh, incarnation, (outcome) => {
      if (!mesh.recordRestart(0, outcome)) return;
      mesh.markRevived(0);
      const { id: proc, location } = this.proc;
      void this.#procRuntime.announceMove(
        { mesh: mesh.record.id, rank: 0, proc, location, generation: incarnation },
        proc,
      );
    });
  }

  #createActor(
    mesh: SpawnedActors,
    incarnation: number,
    saved: Checkpoint | undefined,
    settle: (outcome: Settled<SpawnOutcome>) => void,
  ): void {
    const { actorClass, descriptor, watch } = mesh.plan;
    const { id, name } = mesh.record;
    const life = { mesh: id, rank: 0, incarnation };
    const savesAtStop = mesh.checkpoints?.isDurable;
    const shape = { ...life, name, extent: {}, owner: this.proc.id, savesAtStop };
    const request = { ...shape, descriptor, actorClass, watch, saved };
    const created = (failure: ActorFailure | undefined) => {
      settle({ status: "fulfilled", value: failure === undefined ? {} : { failure: actorNoticeOf(life, failure) } });
    };
    this.#procRuntime.createActorNow({ ...request, args: decodeArguments(descriptor.args, mesh.plan) }, created);
  }

  async stopActors({ record }: SpawnedActors, options: StopOptions): Promise<void> {
    const { clock } = this.proc;
    const rest = countdown(clock, options.drain);
    // Messages that were sent from here arrive in a later turn of the event loop.
    if (options.drain > 0) await settlesWithin(clock, options.drain, this.proc.whenDeliveredTo(this.proc.id));
    await this.#procRuntime.stopActor(record.id, { ...options, drain: rest() });
  }
}
