/**
 * The only actor of a mesh, which has moved to another process, as its former process passes messages on to it. The root of this process sends them,
 * so that they do not wait for what the former actor has sent to itself.
 */

import type { Dispatcher } from "../../actor/call/dispatcher.js";
import { createDispatcher } from "../../actor/call/intercepted-dispatcher.js";
import { startSingleCall, startStreamCall } from "../../actor/call/start-call.js";
import type { MessagePasser } from "../../actor/cell/message-passer.js";
import type { Turn } from "../../actor/cell/turn.js";
import { forwardedError } from "../../actor/delivery/forward-failure.js";
import { DeliveryError } from "../../actor/errors.js";
import type { Proc } from "../../actor/proc/proc.js";
import type { ActorSpec } from "../../actor/reference/actor-request.js";
import type { MeshRecord } from "../../actor/reference/mesh-record.js";
import { MeshView } from "../../actor/reference/mesh-view.js";
import { wholeRegion } from "../../shape/index.js";
import { thrownMessage } from "../../thrown.js";
import type { ActorDescriptor, EndpointDescriptor } from "../../wire/descriptor.js";
import { runAsRoot } from "../proc-agents.js";
import { MappedStream } from "./mapped-stream.js";

/**
 * The time in ms that is added to the timeout of a call, as `Turn` does: the caller reports its own timeout before an error arrives
 * that the timeout has caused in the other process.
 */
const GRACE_MS = 20;

export class MovedActor implements MessagePasser {
  readonly #proc: Proc;
  readonly #spec: ActorSpec;
  readonly #record: MeshRecord;

  /** @param spec of the actor in this process */
  constructor(proc: Proc, spec: ActorSpec) {
    const { mesh: id, name, owner, extent } = spec;
    this.#proc = proc;
    this.#spec = spec;
    this.#record = proc.records.findOrCreate({ id, name, owner, extent });
  }

  pass(turn: Turn, endpoint: EndpointDescriptor, args: readonly unknown[]): unknown {
    return endpoint.stream ? this.#stream(turn, endpoint, args) : this.#call(turn, endpoint, args);
  }

  async whenHandled(): Promise<void> {
    const { outbound } = this.#proc.root;
    const target = this.#record.target(this.#spec.rank);
    const earlier = target.leavingOf(outbound).map((left) => new Promise<void>((then) => left.afterHandling(then)));
    const session = outbound.knownSession(target);
    await Promise.all([...earlier, session && new Promise<void>((then) => session.afterHandling(then))]);
  }

  async #call(turn: Turn, endpoint: EndpointDescriptor, args: readonly unknown[]): Promise<unknown> {
    const to = this.#dispatcher(turn, endpoint);
    try {
      if (turn.call !== 0) return await this.#asRoot(() => startSingleCall(to, args, 0));
      this.#asRoot(() => void to.castOne(args, 0));
      return await this.whenHandled();
    } catch (error) {
      if (turn.call !== 0) throw forwardedError(error, to.label);
      // A message without an answer must not make the former actor fail. The sender is told as by any other actor.
      turn.cell.undeliverable(to.label, new DeliveryError("refused", thrownMessage(error)));
      return undefined;
    }
  }

  #stream(turn: Turn, endpoint: EndpointDescriptor, args: readonly unknown[]): AsyncIterable<unknown> {
    const to = this.#dispatcher(turn, endpoint);
    const items = this.#asRoot(() => startStreamCall(to, args));
    const failed = (error: unknown): never => {
      throw forwardedError(error, to.label);
    };
    return new MappedStream(items, ([, value]) => value, failed, undefined);
  }

  #asRoot<T>(send: () => T): T {
    return runAsRoot(this.#proc, send);
  }

  #dispatcher(turn: Turn, endpoint: EndpointDescriptor): Dispatcher {
    const descriptor = interfaceWith(this.#spec.descriptor!, endpoint)!;
    const { timeLeft, key, chain } = turn;
    const view = new MeshView(this.#record, descriptor, wholeRegion(this.#record.extent), key);
    const timeout = timeLeft === 0 ? Number.POSITIVE_INFINITY : timeLeft + GRACE_MS;
    const options = { timeout, traceparent: turn.span.toString(), signal: turn.signal, chain };
    return createDispatcher(view, descriptor.endpoints.indexOf(endpoint), options);
  }
}

/** Returns the interface, of those that an actor has, that declares an endpoint. */
function interfaceWith(descriptor: ActorDescriptor, endpoint: EndpointDescriptor): ActorDescriptor | undefined {
  if (descriptor.endpoints.includes(endpoint)) return descriptor;
  for (const base of descriptor.extends) {
    const found = interfaceWith(base(), endpoint);
    if (found !== undefined) return found;
  }
  return undefined;
}
