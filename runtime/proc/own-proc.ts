/** The process that code runs in as a place for more actors: they are made at once, on the spot. */
import type { SpawnOutcome } from "../../generated/proc-agent.js";
import type { RankLocation } from "../actor/address.js";
import type { Settled } from "../actor/gather.js";
import type { ActorFailure, StopOptions } from "../actor/hooks.js";
import type { Proc } from "../actor/proc.js";
import type { Region } from "../shape/index.js";
import { ActorHost } from "./actor-host.js";
import { decodeArguments } from "./arguments.js";
import { endBefore } from "./end-before.js";
import type { Local } from "./local.js";
import type { LocalProc } from "./local-proc.js";
import { noticeOf } from "./notice.js";
import type { SpawnedMesh } from "./spawned-mesh.js";
import { countdown, within } from "./within.js";

export class OwnProc extends ActorHost {
  readonly name = "this process";
  readonly extent = {};
  readonly ready = Promise.resolve();
  protected readonly stopped = undefined;
  readonly #here: LocalProc;

  constructor(local: Local, here: LocalProc) {
    super(local);
    this.#here = here;
  }

  get proc(): Proc {
    return this.#here.proc;
  }

  places(_region: Region): RankLocation[] {
    const { id, location } = this.proc;
    return [{ proc: id, location }];
  }

  protected create(mesh: SpawnedMesh): void {
    this.#make(mesh, 0, (outcome) => mesh.outcome(0, outcome));
  }

  async restart(mesh: SpawnedMesh): Promise<void> {
    await endBefore(this.proc, mesh.record.id);
    if (mesh.stopping) return;
    const incarnation = mesh.nextIncarnation(0);
    this.#make(mesh, incarnation, (outcome) => {
      if (!mesh.restarted(0, outcome)) return;
      mesh.revived(0);
      const { id: proc, location } = this.proc;
      void this.#here.moved({ mesh: mesh.record.id, rank: 0, proc, location, generation: incarnation }, proc);
    });
  }

  #make(mesh: SpawnedMesh, incarnation: number, settle: (outcome: Settled<SpawnOutcome>) => void): void {
    const { actorClass, descriptor, watch } = mesh.plan;
    const { id, name } = mesh.record;
    const life = { mesh: id, rank: 0, incarnation };
    const request = { ...life, name, extent: {}, owner: this.proc.id, descriptor, actorClass, watch };
    const created = (failure: ActorFailure | undefined) => {
      settle({ status: "fulfilled", value: failure === undefined ? {} : { failure: noticeOf(life, failure) } });
    };
    this.#here.createNow({ ...request, args: decodeArguments(descriptor.args, mesh.plan) }, created);
  }

  async stopActors({ record }: SpawnedMesh, options: StopOptions): Promise<void> {
    const { clock } = this.proc;
    const rest = countdown(clock, options.drain);
    // What was sent from here comes in a later turn of the event loop.
    if (options.drain > 0) await within(clock, options.drain, this.proc.deliveredTo(this.proc.id));
    await this.#here.stop(record.id, { ...options, drain: rest() });
  }
}
