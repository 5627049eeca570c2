/** A host of links that records its calls, and destinations that record their messages. */
import { systemClock } from "../../runtime/link/clock.js";
import { DeliveryError } from "../../runtime/link/errors.js";
import type { RelayFrame } from "../../runtime/link/frame/relay-frame.js";
import type { Destination, Lane } from "../../runtime/link/inbound/lane.js";
import type { LaneRequest } from "../../runtime/link/inbound/lane-request.js";
import { noKeepAlive } from "../../runtime/link/keep-alive.js";
import { Link } from "../../runtime/link/link.js";
import type { LinkHost } from "../../runtime/link/link-host.js";
import { defaultLinkLimits, type LinkLimits } from "../../runtime/link/link-limits.js";
import type { EncodedMessage } from "../../runtime/link/outbound/encoded-message.js";
import type { MessageInterface, MessageSender, OutboundMessage } from "../../runtime/link/outbound/session.js";
import { codec } from "../../runtime/wire/composed/index.js";
import type { Reader } from "../../runtime/wire/reader.js";
import { pipePair } from "./pipe-pair.js";

export interface Received {
  readonly lane: Lane;
  readonly slot: number;
  readonly call: number;
  readonly text: string;
  readonly size: number;
}

/** A destination that records messages. It consumes them at once unless `holds` is set. */
export class Sink implements Destination {
  readonly received: Received[] = [];
  readonly closed: Lane[] = [];
  holds = false;

  bind(): void {}

  message(lane: Lane, slot: number, call: number, _flags: number, r: Reader, size: number): void {
    this.received.push({ lane, slot, call, text: codec.string.decodeFrom(r), size });
    if (call === 0 && !this.holds) lane.consumed(size);
  }

  cancel(): void {}

  laneClosed(lane: Lane): void {
    this.closed.push(lane);
  }
}

export class FakeHost implements LinkHost<Link> {
  readonly universe = 1n;
  readonly clock = systemClock;
  readonly keepAlive = noKeepAlive;
  readonly limits: LinkLimits;
  readonly id: bigint;
  readonly sink = new Sink();
  readonly opened: Link[] = [];
  readonly ends: (Error | undefined)[] = [];
  readonly requests: LaneRequest[] = [];
  readonly relayedFrames: RelayFrame[] = [];
  readonly answers: [number, boolean][] = [];

  constructor(id: bigint, limits: Partial<LinkLimits> = {}) {
    this.id = id;
    this.limits = { ...defaultLinkLimits, ...limits };
  }

  linkOpened(link: Link): void {
    this.opened.push(link);
  }

  linkClosed(link: Link, error: Error | undefined): void {
    this.ends.push(error);
    link.end(new DeliveryError("peer-down", error?.message ?? "closed"));
  }

  laneOpened(_link: Link, request: LaneRequest): Destination {
    this.requests.push(request);
    return this.sink;
  }

  readError(): Error {
    return new Error("remote");
  }

  meshQueried(link: Link, question: number, mesh: bigint): void {
    link.sendTell(question, mesh === 5n);
  }

  meshQueryAnswered(_link: Link, question: number, exists: boolean): void {
    this.answers.push([question, exists]);
  }

  portHolderChanged(): void {}

  laneSynced(): void {}

  treeFrameReceived(): void {}

  relayFrameReceived(_link: Link, frame: RelayFrame): void {
    this.relayedFrames.push({ ...frame, bytes: frame.bytes.slice() });
  }
}

export class FakeSender implements MessageSender {
  readonly id = { universe: 1n, proc: 10n, mesh: 2n, rank: 0, incarnation: 0 };
  readonly name = "sender";
  readonly bounces: [number, string][] = [];
  ended = 0;

  compare(): undefined {}

  translate(_known: unknown, _endpoint: unknown, body: EncodedMessage): EncodedMessage {
    return body;
  }

  bounced(_session: unknown, slot: number, error: DeliveryError): void {
    this.bounces.push([slot, error.message]);
  }

  targetEnded(): void {}

  sessionEnded(): void {
    this.ended++;
  }
}

export const texts: OutboundMessage = { label: "sink.text", codec: codec.string, protobuf: codec.string };
export const bytes: OutboundMessage = { label: "sink.bytes", codec: codec.bytes, protobuf: codec.bytes };
export const iface: MessageInterface = {
  key: "test#Sink",
  name: "Sink",
  fingerprint: 3n,
  endpoints: [{ id: 1, name: "text" }],
};
export const waiter = { credited(): void {} };

/** Creates two hosts with a link between them. */
export function linked(limits: Partial<LinkLimits> = {}) {
  const near = new FakeHost(10n, limits);
  const far = new FakeHost(11n, limits);
  const [a, b] = pipePair();
  const link = new Link(near, 11n);
  const other = new Link(far, undefined);
  link.attach(a);
  other.attach(b);
  const sender = new FakeSender();
  const open = () =>
    link.openSession(sender, { kind: "actor", proc: 11n, number: 5n, rank: 0, owner: 10n, fingerprint: 0n }, "key");
  return { near, far, link, other, sender, open, pipes: [a, b] as const };
}

/** Waits until everything in transit has arrived and was answered. */
export async function settled(turns = 20): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
}
