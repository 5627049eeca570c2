/** A sender on a proc whose links have no pipes: tests supply the answers of its receivers, and read the frames that it sends. */

import { type CastHost, CastRouter } from "../../../runtime/cast/cast-router.js";
import { CastSender } from "../../../runtime/cast/sender/cast-sender.js";
import type { CastSenderHost, CastView } from "../../../runtime/cast/sender/cast-view.js";
import type { CastRequest, PendingCast } from "../../../runtime/cast/sender/pending-cast.js";
import { type AnswerGroup, AnswerKind, writeAnswers } from "../../../runtime/cast/tree/answers.js";
import { type CastHead, readCast } from "../../../runtime/cast/tree/cast-frame.js";
import { readSetup, type TreeSetup } from "../../../runtime/cast/tree/tree-setup.js";
import { DeliveryError } from "../../../runtime/link/errors.js";
import type { PeerSchema } from "../../../runtime/link/frame/binding.js";
import { readBody, readU32, writeText, writeU32, writeU64 } from "../../../runtime/link/frame/control-body.js";
import { FrameKind } from "../../../runtime/link/frame/frame.js";
import type { TreeFrame } from "../../../runtime/link/link-host.js";
import { defaultLinkLimits, type LinkLimits } from "../../../runtime/link/link-limits.js";
import type { EncodedMessage } from "../../../runtime/link/outbound/encoded-message.js";
import type { UnhandledMessages } from "../../../runtime/link/outbound/unhandled-messages.js";
import { Reader } from "../../../runtime/wire/reader.js";
import { Writer } from "../../../runtime/wire/writer.js";
import { type RecordedLink, recordedLink, type SentFrame } from "../recorded-link.js";

const universe = 7n;
/** The proc of the sender; those of the actors of a mesh are 1, 2, 3 … by rank. */
export const ownProc = 99n;
const sender = { universe, proc: ownProc, mesh: 2n, rank: 0, incarnation: 0, name: "sender" };
const castInterface = {
  key: "a#B",
  name: "B",
  fingerprint: 7n,
  endpoints: [
    { id: 1, name: "one" },
    { id: 2, name: "two" },
  ],
};

/** A frame that went down a tree, in words. */
export type DownFrame =
  | { readonly to: bigint; readonly setup: TreeSetup }
  | {
      readonly to: bigint;
      readonly cast: number;
      readonly flags: number;
      readonly endpoint: number;
      readonly head: Omit<CastHead, "extension">;
      readonly message: readonly number[];
    }
  | { readonly to: bigint; readonly kind: number; readonly b: number; readonly slot: number; readonly index?: number };

export interface ScriptedSenderOptions {
  /** Actors of the mesh, each on a proc of its own unless `procOf` says otherwise. */
  readonly size?: number;
  readonly procOf?: (rank: number) => bigint;
  readonly limits?: Partial<LinkLimits>;
  /** @returns why a rank that has another schema cannot be cast to */
  readonly compare?: (base: number, other: PeerSchema) => DeliveryError | undefined;
  readonly translate?: (body: EncodedMessage) => EncodedMessage;
}

export function scriptedSender(options: ScriptedSenderOptions = {}) {
  const size = options.size ?? 3;
  const told: unknown[][] = [];
  const links = new Map<bigint, RecordedLink>();
  const down = new Map<bigint, DeliveryError>();
  const unreachable = new Set<bigint>();
  /** The ranks that have left the mesh. */
  const left = new Set<number>();
  /** The messages to the former procs of actors that have moved, by rank. */
  const unhandled = new Map<number, UnhandledMessages>();
  const procs = Array.from({ length: size }, (_, rank) => options.procOf?.(rank) ?? BigInt(rank + 1));
  const limits = { ...defaultLinkLimits, treeFanout: size, ...options.limits };
  const linkTo = (peer: bigint): RecordedLink => {
    let link = links.get(peer);
    if (link === undefined) {
      link = recordedLink(peer);
      links.set(peer, link);
    }
    return link;
  };
  /** The lane of casts to an actor on the sender's own proc, which has endless credit. */
  const own = {
    slotOf: () => 0,
    afterAllSent: (then: () => void) => then(),
    post: (
      _slot: number,
      { bytes }: EncodedMessage,
      _extension: unknown,
      _call: unknown,
      waiter: { credited(): void },
    ) => {
      told.push(["posted here", String(Buffer.from(bytes))]);
      waiter.credited();
    },
  };
  const router = new CastRouter({
    id: ownProc,
    universe,
    location: "root",
    limits,
    routes: {
      linkTo: (proc: bigint) => {
        if (proc === ownProc) return { openSession: () => own };
        if (unreachable.has(proc)) throw new DeliveryError("peer-down", `there is no way to ${proc}`);
        return linkTo(proc).link;
      },
      existingLink: () => undefined,
      deathOf: (proc: bigint) => down.get(proc),
    },
    foldFor: () => undefined,
  } as unknown as CastHost);
  let awake = 0;
  const host: CastSenderHost = {
    router,
    sender,
    keepAlive: { hold: () => void awake++, release: () => void awake-- } as never,
    undeliverable: (label, { message }) => void told.push(["undeliverable", label, message]),
    targetEnded: (base) => void told.push(["target ended", base]),
    openSession: (base) => void told.push(["open", base]),
    unhandledMessages: (base) => [...unhandled].flatMap(([rank, messages]) => (rank === base ? [messages] : [])),
    compare: (base, _known, other) => options.compare?.(base, other),
    translate: (_known, endpoint, body) => {
      told.push(["translate", endpoint.name]);
      return options.translate?.(body) ?? { ...body, isProtobuf: true };
    },
    readError: (r) => new Error(`read ${Buffer.from(r.bytes).subarray(r.position, r.end)}`),
    senderActive: () => void told.push(["awake"]),
    senderIdle: (ended) => void told.push(["asleep", ended]),
  };
  const mesh = {
    id: 20n,
    owner: 21n,
    rankCount: size,
    moves: 0,
    target: (base: number) => ({
      proc: procs[base]!,
      location: `at ${procs[base]}`,
      departure: left.has(base) ? new DeliveryError("stopped", "it has left the mesh") : undefined,
    }),
    hasLeft: (base: number) => left.has(base),
    procAt: (base: number) => procs[base],
  };
  const castSender = new CastSender(host, mesh);

  const viewOf = (...bases: readonly number[]): CastView => ({
    key: bases.join(),
    bases,
    interface: castInterface,
    extent: undefined,
  });
  const whole = viewOf(...procs.keys());

  /** Casts to some of the actors. The answers of a call are noted. */
  const cast = (text: string, view = whole, more: Partial<CastRequest> & { readonly call?: boolean } = {}) => {
    const bytes = Buffer.from(text);
    const { call = false, ...rest } = more;
    const read = (r: Reader) => String(Buffer.from(r.bytes).subarray(r.position, r.end));
    const sink = {
      answeredBy: (ranks: readonly number[], r: Reader) => void told.push([text, ranks, read(r)]),
      failed: (rank: number, { message }: Error) => void told.push([text, "failed", rank, message]),
      foldedBy: (ranks: readonly number[], r: Reader) => void told.push([text, "folded", ranks, read(r)]),
      reset: () => void told.push([text, "reset"]),
    };
    const body: EncodedMessage = { bytes, blocks: [], size: bytes.length, isProtobuf: false };
    const waiter = { credited: () => void told.push([text, "credited"]) };
    const request: CastRequest = {
      label: "b.one",
      endpoint: 0,
      body,
      reduction: "",
      extension: undefined,
      sink: call ? sink : undefined,
      waiter: call ? undefined : waiter,
      ...rest,
    };
    return castSender.cast(view, request);
  };
  const call = (text: string, view = whole, more: Partial<CastRequest> = {}): PendingCast =>
    cast(text, view, { ...more, call: true });

  /** Numbers of the branches to each proc, oldest first; learnt from the setups that went there. */
  const handles = new Map<bigint, number[]>();
  const ranks = new Map<number, number>();
  const wordsOf = (to: bigint, { kind, flags, slot, a, b, r }: SentFrame): DownFrame => {
    if (kind === FrameKind.tree) {
      handles.set(to, [...(handles.get(to) ?? []), a]);
      const setup = readBody(r, "tree", () => readSetup(r, universe, to));
      ranks.set(a, setup.size);
      return { to, setup };
    }
    if (kind === FrameKind.castRelease) return { to, kind, b, slot, index: readU32(r) };
    if (kind !== FrameKind.cast) return { to, kind, b, slot };
    const { message, extension: _, ...head } = readCast(r.bytes.subarray(r.position), ranks.get(a)!);
    return { to, cast: b, flags, endpoint: slot, head, message: [...message] };
  };
  /** @returns what went down since it was asked last, by proc */
  const sent = (): DownFrame[] => [...links].flatMap(([to, link]) => link.sent().map((frame) => wordsOf(to, frame)));

  const frame = (from: bigint, kind: number, tree: number, b: number, body: (w: Writer) => void = () => {}): void => {
    const a = handles.get(from)!.at(tree)!;
    const w = new Writer(256);
    body(w);
    const bytes = w.copy(0);
    const r = new Reader();
    r.reset(bytes, new DataView(bytes.buffer), 0, bytes.length);
    router.handleFrame(linkTo(from).link, { kind, flags: 0, slot: 0, a, b } as TreeFrame, r);
  };
  /** What a proc says of its part of a tree: the newest, unless said otherwise. */
  const from = (proc: bigint, tree = -1) => ({
    ready: (...others: readonly number[]) =>
      frame(proc, FrameKind.treeReady, tree, 0, (w) => {
        writeU32(w, others.length);
        for (const rank of others) {
          writeU64(w, 55n);
          writeText(w, "another");
          for (const word of [1, rank, 1]) writeU32(w, word);
        }
      }),
    taken: (casts: number) => frame(proc, FrameKind.taken, tree, casts),
    answers: (seq: number, rank: number, text: string, kind: number = AnswerKind.value, count = 1) => {
      const group: AnswerGroup = {
        kind,
        isProtobuf: false,
        bytes: Buffer.from(text),
        blocks: [],
        ranks: [{ start: rank, count }],
      };
      frame(proc, FrameKind.answers, tree, seq, (w) => writeAnswers(w, [group]));
    },
    lost: (dead: bigint, why = "it cannot be reached") =>
      frame(proc, FrameKind.treeLost, tree, 0, (w) => {
        writeU64(w, dead);
        writeText(w, why);
      }),
    bounced: (label: string, why: string) =>
      frame(proc, FrameKind.castBounce, tree, 3, (w) => {
        writeText(w, label);
        writeText(w, why);
      }),
  });
  const asked = new Set<string>();
  /** All that have not said so say that they know the interface by the same schema. */
  const ready = (): void => {
    sent();
    for (const [proc, trees] of handles) {
      for (const tree of trees.keys()) {
        const key = `${proc} ${tree}`;
        if (!asked.has(key)) from(proc, tree).ready();
        asked.add(key);
      }
    }
  };
  const news = (): unknown[][] => told.splice(0);
  return {
    ...{
      castSender,
      casts: router,
      mesh,
      procs,
      whole,
      viewOf,
      cast,
      call,
      sent,
      from,
      ready,
      news,
      down,
      left,
      unhandled,
      unreachable,
      linkTo,
    },
    awake: () => awake,
  };
}

/** The casts among frames, in short: to which proc, its number, and its message. */
export function describeCasts(frames: readonly DownFrame[]): string[] {
  return frames.flatMap((one) => ("cast" in one ? [`${one.to}: ${one.cast} ${Buffer.from(one.message)}`] : []));
}

/** Turns of the microtask queue, until nothing is left to be done. */
export async function turns(): Promise<void> {
  for (let i = 0; i < 5; i++) await Promise.resolve();
}
