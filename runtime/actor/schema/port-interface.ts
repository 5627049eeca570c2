/**
 * The type of a port as an interface with one endpoint. Sender and receiver use it to agree on a layout when they know
 * the type by different fingerprints. Equal fingerprints need no agreement and nothing of this file.
 */

import type { Binding } from "../../link/frame/binding.js";
import { Layout, type PeerSchema } from "../../link/frame/binding.js";
import { FrameFlag, ProtocolError } from "../../link/frame/frame.js";
import type { Lane } from "../../link/inbound/lane.js";
import type { BoundMessage, MessageInterface } from "../../link/outbound/message-sender.js";
import type { Codec } from "../../wire/codec.js";
import { codec } from "../../wire/composed/index.js";
import { type ActorDescriptor, defineActor, defineArgs } from "../../wire/descriptor.js";
import { protobufValue } from "../../wire/protobuf-messages.js";
import type { Reader } from "../../wire/reader.js";

export class PortInterface implements MessageInterface {
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

  /** Returns an actor interface whose one endpoint takes the values of the port, for code that compares actors. */
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

/** Returns the interface of a codec, the same object for the same codec. */
export function portInterface(element: Codec<unknown>): PortInterface {
  let known = interfaces.get(element);
  if (known === undefined) {
    known = new PortInterface(element);
    interfaces.set(element, known);
  }
  return known;
}

/** Marks the slot of a lane to a port whose sender knows the type by another fingerprint. */
const protobufSlot = Symbol("protobuf");

/**
 * Handles the sender's declaration of the type that it uses for the port.
 *
 * @param describe returns the receiver's description of its own type
 */
export function bindPort(
  lane: Lane,
  { firstSlot, layout, fingerprint }: Binding,
  element: Codec<unknown>,
  describe: (known: PortInterface) => PeerSchema,
): void {
  if (layout === Layout.protobuf) lane.slots[firstSlot] = protobufSlot;
  else if (layout !== Layout.lockstep) return;
  else if (fingerprint === element.fingerprint) lane.link.sendBound(lane.id, firstSlot, undefined);
  else {
    lane.pause();
    lane.link.sendBound(lane.id, firstSlot, describe(portInterface(element)));
  }
}

/**
 * Decodes a value that was sent to a port.
 *
 * @throws {CodecError}
 * @throws {ProtocolError} if the layout is not the agreed one
 */
export function readPortValue(lane: Lane, slot: number, flags: number, r: Reader, element: Codec<unknown>): unknown {
  if ((flags & FrameFlag.protobuf) !== 0) return protobufValue(element).decodeFrom(r);
  if (lane.slots[slot] !== protobufSlot) return element.decodeFrom(r);
  throw new ProtocolError("cannot read message to a port: it was agreed to be in the protobuf layout, and is not");
}
