/** Procs of one universe in this process, linked by local pipes: the real protocol with real bytes, without processes. */

import type { ActorCell } from "../../runtime/actor/cell/actor-cell.js";
import { setMainRoot } from "../../runtime/actor/context.js";
import { wholeMesh } from "../../runtime/actor/mesh/actor-mesh.js";
import { currentMeshRecord } from "../../runtime/actor/mesh/current-mesh-record.js";
import { actorHandleCodecs } from "../../runtime/actor/mesh/handle-codecs.js";
import type { Apply } from "../../runtime/actor/mesh-kind.js";
import { Proc } from "../../runtime/actor/proc/proc.js";
import type { ActorFailure } from "../../runtime/actor/reference/actor-failure.js";
import type { ActorClass } from "../../runtime/actor/reference/actor-request.js";
import type { ProcHooks } from "../../runtime/actor/reference/proc-hooks.js";
import type { StopOptions } from "../../runtime/actor/reference/stop-options.js";
import type { Undeliverable } from "../../runtime/actor/reference/undeliverable.js";
import { type Clock, systemClock, systemRandom } from "../../runtime/link/clock.js";
import { noKeepAlive } from "../../runtime/link/keep-alive.js";
import type { LinkLimits } from "../../runtime/link/link-limits.js";
import { inProcessPipePair } from "../../runtime/link/transport/in-process/pipe.js";
import type { Pipe } from "../../runtime/link/transport/pipe.js";
import { setWireEnvironment } from "../../runtime/wire/wire-environment.js";

setWireEnvironment(actorHandleCodecs);

export interface Event {
  readonly kind:
    | "started"
    | "failed"
    | "peerDown"
    | "undeliverable"
    | "cleanupFailed"
    | "slow"
    | "saved"
    | "lost"
    | "spent";
  readonly actor: string;
  readonly detail: unknown;
}

/** A proc and everything it has told upwards. */
export class TestProc {
  readonly proc: Proc;
  readonly events: Event[] = [];

  constructor(world: World, name: string, limits: Partial<LinkLimits>, clock: Clock) {
    const tell = (kind: Event["kind"], actor: string, detail: unknown): void => {
      this.events.push({ kind, actor, detail });
    };
    const hooks: ProcHooks = {
      actorStarted: (cell) => tell("started", cell.name, undefined),
      actorFailed: (cell, failure) => tell("failed", cell.name, failure),
      handlerSlow: (cell, message) => tell("slow", cell.name, message),
      cleanupFailed: (cell, error) => tell("cleanupFailed", cell.name, error),
      stopOwned: async () => {},
      storeLastState: async (cell, saved) => tell("saved", cell.name, saved),
      lastStateLost: (cell, error) => tell("lost", cell.name, error),
      callsSpent: (cell) => tell("spent", cell.name, undefined),
      meshOrdered: async (mesh) => world.ordered.has(mesh),
      targetDown: () => {},
      peerLost: (_peer, error) => error?.message ?? "its process has ended",
      peerDown: (peer, reason) => tell("peerDown", String(peer), reason),
      undeliverable: (cell: ActorCell, message: Undeliverable) => tell("undeliverable", cell.name, message),
    };
    this.proc = new Proc({
      id: systemRandom.id(),
      universe: world.universe,
      clock,
      random: systemRandom,
      keepAlive: noKeepAlive,
      hooks,
      limits,
      name,
      location: name,
      ...(world.procs.has("root") ? { parent: world.root.proc.id } : {}),
      connect: (location) => world.dial(location, name),
    });
  }

  failures(): ActorFailure[] {
    return this.events.filter(({ kind }) => kind === "failed").map(({ detail }) => detail as ActorFailure);
  }
}

type MeshOf<C, D extends string> = C extends { prototype: { $kind: infer K } } ? Apply<K, D> : never;

export class World {
  readonly universe = systemRandom.id();
  /** Meshes that their owner has ordered, or will. */
  readonly ordered = new Set<bigint>();
  readonly procs = new Map<string, TestProc>();
  /** Locations that nobody can dial any more. */
  readonly unreachable = new Set<string>();
  /** Ends of pipes that were dialled, for tests that cut them. */
  readonly pipes: Pipe[] = [];
  /** The same, by the names of the procs at both ends. */
  readonly #ends: { readonly names: readonly string[]; readonly pipe: Pipe }[] = [];
  readonly root: TestProc;
  readonly #limits: Partial<LinkLimits>;

  readonly #clocks: Readonly<Record<string, Clock>>;

  /**
   * Code outside of actors sends from `root`.
   * @param clocks of procs, by name
   */
  constructor(limits: Partial<LinkLimits> = {}, clocks: Readonly<Record<string, Clock>> = {}) {
    this.#limits = limits;
    this.#clocks = clocks;
    this.root = this.proc("root");
    setMainRoot(this.root.proc.root);
  }

  proc(name: string): TestProc {
    const made = new TestProc(this, name, this.#limits, this.#clocks[name] ?? systemClock);
    this.procs.set(name, made);
    return made;
  }

  /** The pipes from and to a proc, also those that it does not use: two procs may dial each other at once. */
  pipesOf(name: string): Pipe[] {
    return this.#ends.filter(({ names }) => names.includes(name)).map(({ pipe }) => pipe);
  }

  /** Those between two procs, in the order in which they were dialled. */
  pipesBetween(one: string, other: string): Pipe[] {
    return this.#ends.filter(({ names }) => names.includes(one) && names.includes(other)).map(({ pipe }) => pipe);
  }

  async dial(location: string, from: string): Promise<Pipe> {
    const to = this.procs.get(location);
    if (to === undefined || this.unreachable.has(location)) throw new Error(`nobody listens at ${location}`);
    const [near, far] = this.wrap(...inProcessPipePair(), from, location);
    this.pipes.push(near);
    this.#ends.push({ names: [from, location], pipe: near });
    to.proc.attach(far);
    return near;
  }

  /** Both ends of a pipe, for tests that put something in between. */
  protected wrap(near: Pipe, far: Pipe, _from: string, _to: string): readonly [Pipe, Pipe] {
    return [near, far];
  }

  /** One actor on each of the procs, as a mesh. */
  spawn<C extends ActorClass<never[]>, D extends string = "gpus">(
    name: string,
    actorClass: C,
    args: readonly unknown[],
    procs: readonly TestProc[],
    extent: Readonly<Record<string, number>> = { gpus: procs.length },
    ordered = true,
  ): MeshOf<C, D> {
    const mesh = systemRandom.id();
    if (ordered) this.ordered.add(mesh);
    const owner = this.root.proc.id;
    const record = currentMeshRecord({ id: mesh, name, owner, extent });
    for (const [rank, { proc }] of procs.entries()) {
      record.setLocation(rank, { proc: proc.id, location: proc.location });
      const { descriptor } = actorClass;
      const request = { mesh, rank, incarnation: 0, name, extent, owner, descriptor, actorClass, args };
      if (ordered) proc.createActor(request as never);
    }
    return wholeMesh(record, actorClass.descriptor) as MeshOf<C, D>;
  }

  /** Stops an actor of a mesh. */
  stop(on: TestProc, mesh: bigint, options: Partial<StopOptions> = {}): Promise<void> {
    const cell = on.proc.cell(mesh);
    if (cell === undefined) throw new Error("no such actor");
    return on.proc.stopActor(cell, { reason: "ordered", drain: 1000, ...options });
  }

  close(): void {
    for (const { proc } of this.procs.values()) proc.close("the test has ended");
    setMainRoot(undefined);
  }
}
