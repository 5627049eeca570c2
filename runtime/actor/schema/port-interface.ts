/**
 * What a port takes, as an interface with one endpoint: how sender and receiver agree on a layout when they know the type
 * by different fingerprints. Where these are the same nothing is agreed, and none of this is needed.
 */
import type { Binding } from "../../link/binding.js";
import { Layout, type OtherSchema } from "../../link/binding.js";
import { Flag, ProtocolError } from "../../link/frame.js";
import type { Lane } from "../../link/lane.js";
import type { BoundMessage, Interface } from "../../link/session.js";
import type { Codec } from "../../wire/codec.js";
import { codec } from "../../wire/composed/index.js";
import { type ActorDescriptor, defineActor, defineArgs } from "../../wire/descriptor.js";
import { protobufValue } from "../../wire/protobuf-messages.js";
import type { Reader } from "../../wire/reader.js";

export class PortInterface implements Interface {
  readonly key: string;
  readonly name: string;
  readonly fingerprint: bigint;
  readonly endpoints: readonly BoundMessage[];
  readonly #element: Codec<unknown>;

  constructor(element: Codec<unknown>) {
    this.key = `port of ${element.name}`;
    this.name = "port";
    this.fingerprint = element.fingerprint;
    this.endpoints = [{ id: 1, name: "send", args: element }];
    this.#element = element;
  }

  /** An actor with one endpoint that takes what the port takes: for those who compare actors. */
  asActor(): ActorDescriptor {
    const { key, fingerprint } = this;
    const args = defineArgs(codec.tuple(this.#element), 1, 1);
    return defineActor({
      key,
      name: "Port",
      id: 0,
      fingerprint,
      args: () => defineArgs(codec.tuple(), 0, 0),
      endpoints: () => ({ send: { id: 1, args } }),
    });
  }
}

const interfaces = new WeakMap<Codec<unknown>, PortInterface>();

/** The same for the same codec. */
export function portInterface(element: Codec<unknown>): PortInterface {
  let known = interfaces.get(element);
  if (known === undefined) {
    known = new PortInterface(element);
    interfaces.set(element, known);
  }
  return known;
}

/** On the slot of a lane to a port whose sender knows its type by another fingerprint. */
const protobufSlot = Symbol("protobuf");

/** A sender names what it takes the port for. @param describe what the receiver says of its own */
export function bindPort(
  lane: Lane,
  { base, layout, fingerprint }: Binding,
  element: Codec<unknown>,
  describe: (known: PortInterface) => OtherSchema,
): void {
  if (layout === Layout.protobuf) lane.slots[base] = protobufSlot;
  else if (layout !== Layout.lockstep) return;
  else if (fingerprint === element.fingerprint) lane.link.sendBound(lane.id, base, undefined);
  else {
    lane.pause();
    lane.link.sendBound(lane.id, base, describe(portInterface(element)));
  }
}

/** @throws CodecError, ProtocolError if the layout is not what was agreed */
export function readPortValue(lane: Lane, slot: number, flags: number, r: Reader, element: Codec<unknown>): unknown {
  if ((flags & Flag.protobuf) !== 0) return protobufValue(element).decodeFrom(r);
  if (lane.slots[slot] !== protobufSlot) return element.decodeFrom(r);
  throw new ProtocolError("cannot read message to a port: it was agreed to be in the protobuf layout, and is not");
}
