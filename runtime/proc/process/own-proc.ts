/** The own process as a group on which actors are spawned. Its actors are created immediately. */
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
    this.#createActor(mesh, 0, (outcome) => mesh.recordOutcome(0, outcome));
  }

  async restartActor(mesh: SpawnedActors): Promise<void> {
    await waitForPredecessor(this.proc, mesh.record.id);
    if (mesh.isStopping) return;
    const incarnation = mesh.nextIncarnation(0);
    this.#createActor(mesh, incarnation, (outcome) => {
      if (!mesh.recordRestart(0, outcome)) return;
      mesh.markRevived(0);
      const { id: proc, location } = this.proc;
      void this.#procRuntime.announceMove(
        { mesh: mesh.record.id, rank: 0, proc, location, generation: incarnation },
        proc,
      );
    });
  }

  #createActor(mesh: SpawnedActors, incarnation: number, settle: (outcome: Settled<SpawnOutcome>) => void): void {
    const { actorClass, descriptor, watch } = mesh.plan;
    const { id, name } = mesh.record;
    const life = { mesh: id, rank: 0, incarnation };
    const request = { ...life, name, extent: {}, owner: this.proc.id, descriptor, actorClass, watch };
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
