/** The process that code runs in as a place for more actors: they are made at once, on the spot. */
import type { RankLocation } from "../actor/address.js";
import type { ActorFailure, StopOptions } from "../actor/hooks.js";
import type { Proc } from "../actor/proc.js";
import type { Region } from "../shape/index.js";
import { ActorHost } from "./actor-host.js";
import type { Local } from "./local.js";
import type { LocalProc } from "./local-proc.js";
import { noticeOf } from "./notice.js";
import type { SpawnedMesh } from "./spawned-mesh.js";

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
    const { actorClass, descriptor, args } = mesh.plan;
    const { id, name } = mesh.record;
    const life = { mesh: id, rank: 0, incarnation: 0 };
    const request = { ...life, name, extent: {}, owner: this.proc.id, descriptor, actorClass };
    const created = (failure: ActorFailure | undefined) => {
      const value = failure === undefined ? {} : { failure: noticeOf(life, failure) };
      mesh.outcome(0, { status: "fulfilled", value });
    };
    this.#here.createNow({ ...request, args: descriptor.args.decode(args) }, created);
  }

  stopActors({ record }: SpawnedMesh, options: StopOptions): Promise<unknown> {
    return this.#here.stop(record.id, options);
  }
}
