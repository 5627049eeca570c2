/**
 * The cell of an actor: its identity, and the parts that it is made of. `lifecycle` starts and ends the actor, `inbound`
 * receives its messages, `outbound` sends, and `ports` has the ports that belong to it. The root of a proc is a cell that
 * takes no messages.
 */
import { type ActorId, type MeshId, ROOT_MESH } from "../../link/address.js";
import type { DeliveryError } from "../../link/errors.js";
import { chainToken } from "../../link/frame/message-extension.js";
import { type Extent, Point } from "../../shape/index.js";
import type { Actor, SupervisedFailure } from "../actor.js";
import { NoMessageTurn, runInTurn } from "../context.js";
import type { ActorFailure } from "../reference/actor-failure.js";
import type { ActorSpec } from "../reference/actor-request.js";
import type { ActorContext } from "../reference/handler-context.js";
import { ActorPorts } from "./actor-ports.js";
import { ActorInbound } from "./inbound.js";
import { ActorLifecycle, type LifecycleProc, type LivingActor } from "./lifecycle.js";
import { ActorOutbound } from "./outbound.js";
import type { Turn } from "./turn.js";

export class ActorCell implements LivingActor {
  readonly proc: LifecycleProc;
  readonly spec: ActorSpec;
  instance: Actor | undefined;
  readonly lifecycle: ActorLifecycle;
  readonly inbound: ActorInbound;
  readonly outbound: ActorOutbound;
  readonly ports: ActorPorts;

  /** Called by `proc.createActor`. */
  constructor(proc: LifecycleProc, spec: ActorSpec) {
    this.proc = proc;
    this.spec = spec;
    this.lifecycle = new ActorLifecycle(this);
    this.inbound = new ActorInbound(this, this.lifecycle);
    this.outbound = new ActorOutbound(this);
    this.ports = new ActorPorts(this);
  }

  get mesh(): MeshId {
    return this.spec.mesh;
  }

  get rank(): number {
    return this.spec.rank;
  }

  get isRoot(): boolean {
    return this.spec.mesh === ROOT_MESH;
  }

  get id(): ActorId {
    const { mesh, rank, incarnation } = this.spec;
    return { universe: this.proc.universe, proc: this.proc.id, mesh, rank, incarnation };
  }

  get name(): string {
    return this.isRoot ? this.spec.name : `${this.spec.name}[${this.spec.rank}]`;
  }

  get token(): readonly [number, number] {
    return chainToken({ proc: this.proc.id, mesh: this.spec.mesh, rank: this.spec.rank });
  }

  get context(): ActorContext {
    const { name, rank, position = rank } = this.spec;
    const extent = this.spec.extent as Extent;
    return { id: this.id, name, rank: new Point(extent, position) };
  }

  /** A turn of code of this actor that handles no message. */
  get turn(): NoMessageTurn {
    return new NoMessageTurn(this);
  }

  get ended(): DeliveryError | undefined {
    return this.inbound.ended;
  }

  /** The turns of calls that the actor has not answered. */
  get calls(): readonly Turn[] {
    return this.inbound.calls;
  }

  /** The number of queued messages. */
  get waitingCount(): number {
    return this.inbound.waitingCount;
  }

  isAwaitedBy(token: readonly [number, number]): boolean {
    return this.inbound.isAwaitedBy(token);
  }

  supervise(failure: SupervisedFailure): unknown {
    return this.lifecycle.supervise(failure);
  }

  fail(failure: ActorFailure): void {
    this.lifecycle.fail(failure);
  }

  failUncaught(error: unknown, endpoint: string | undefined): void {
    this.lifecycle.failUncaught(error, endpoint);
  }

  /** Lets `next` take the place of this actor, which has failed. */
  replaceBy(next: ActorCell): void {
    this.inbound.replaceBy(next.inbound);
    this.outbound.close(this.ended!);
  }

  /** Passes a message that could not be delivered to the actor's `undeliverable`, or to the proc if there is none. */
  undeliverable(to: string, { reason, message }: DeliveryError): void {
    const report = { to, reason, message };
    try {
      if (this.instance?.undeliverable !== undefined) {
        runInTurn(this.turn, () => this.instance?.undeliverable?.(report));
        return;
      }
    } catch (error) {
      this.fail({ kind: "message", error, at: this.proc.clock.epochMs() });
      return;
    }
    if (this.lifecycle.state !== "stopped") this.proc.hooks.undeliverable(this, report);
  }
}
