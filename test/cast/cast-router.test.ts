/**
 * Tests of a proc's reaction to each frame of a tree, and of its data for senders on other procs, by the frames that it
 * sends.
 */
import { expect, test } from "vitest";
import { type CastHost, CastRouter } from "../../runtime/cast/cast-router.js";
import type { OrderedArrivals } from "../../runtime/cast/receiver/ordered-arrivals.js";
import type { CastSender } from "../../runtime/cast/sender/cast-sender.js";
import { AnswerKind, readAnswers, writeAnswers } from "../../runtime/cast/tree/answers.js";
import { FlushMode } from "../../runtime/cast/tree/branch.js";
import { CastFlag, CastOrdering, writeCast } from "../../runtime/cast/tree/cast-frame.js";
import type { TreeNode } from "../../runtime/cast/tree/tree-node.js";
import { readSetup, type TreeSetup, writeSetup } from "../../runtime/cast/tree/tree-setup.js";
import { DeliveryError, deliveryReasons } from "../../runtime/link/errors.js";
import { readText, readU32, readU64, writeText, writeU32, writeU64 } from "../../runtime/link/frame/control-body.js";
import { FrameKind, ProtocolError, SyncKind } from "../../runtime/link/frame/frame.js";
import type { Lane } from "../../runtime/link/inbound/lane.js";
import type { Link } from "../../runtime/link/link.js";
import type { TreeFrame } from "../../runtime/link/link-host.js";
import type { PendingCall } from "../../runtime/link/outbound/pending-calls.js";
import { Reader } from "../../runtime/wire/reader.js";
import { Writer } from "../../runtime/wire/writer.js";
import { headerOf, type RecordedLink, recordedLink } from "./recorded-link.js";

const self = 1n;
const root = 9n;
const sender = { universe: 7n, proc: root, mesh: 2n, rank: 0, incarnation: 0, name: "sender" };

const setup: TreeSetup = {
  root,
  location: "at the root",
  tree: 5,
  lineage: 5,
  unfinished: [],
  sender,
  mesh: 20n,
  owner: 21n,
  interface: { key: "a#B", name: "B", fingerprint: 7n, endpoints: [{ id: 1, name: "one" }] },
  size: 2,
  extent: undefined,
  window: { casts: 4, bytes: 4000 },
  procs: [
    { proc: self, location: "here", ranks: [{ viewRank: 0, meshRank: 100 }] },
    { proc: 3n, location: "below", ranks: [{ viewRank: 1, meshRank: 101 }] },
  ],
};

/** A message that the actor here has received. */
interface Posted {
  readonly call: PendingCall | undefined;
  readonly bytes: readonly number[];
  readonly waiter: { credited(): void };
}

/** Creates a proc, and records its links, by peer, and the messages of its actors. */
function proc() {
  const links = new Map<bigint, RecordedLink>();
  const lost = new Set<bigint>();
  const posted: Posted[] = [];
  const synced: unknown[][] = [];
  const abandoned: unknown[] = [];
  const closed: unknown[] = [];
  const bound: unknown[] = [];
  const linkTo = (peer: bigint): RecordedLink => {
    let known = links.get(peer);
    if (known === undefined) {
      known = recordedLink(peer);
      links.set(peer, known);
    }
    return known;
  };
  const own = {
    openSession: (from: OrderedArrivals, target: unknown, key: unknown) => {
      const session = {
        target,
        slotOf: (known: unknown) => {
          bound.push(known);
          return 0;
        },
        afterAllSent: (then: () => void) => then(),
        sendSync: (...what: unknown[]) => synced.push(what),
        close: () => closed.push(target),
        abandon: (_: unknown, reason: number) => abandoned.push(reason),
        post: (_: number, body: { bytes: Uint8Array }, _extension: unknown, call: PendingCall, waiter: never) => {
          if (call !== undefined) Object.assign(call, { id: 1, session });
          posted.push({ call, bytes: [...body.bytes], waiter });
        },
      };
      expect(key).toBe(from);
      return session;
    },
  };
  const routed: unknown[][] = [];
  const host = {
    id: self,
    universe: 7n,
    location: "here",
    limits: { treeFanout: 2, maxFrame: 100_000 },
    routes: {
      linkTo: (to: bigint, location: string, owner: bigint | undefined) => {
        if (to === self) {
          expect([location, owner]).toEqual(["", undefined]);
          return own;
        }
        if (lost.has(to)) throw new DeliveryError("peer-down", "there is no way");
        routed.push([to, location, owner]);
        return linkTo(to).link;
      },
      existingLink: (peer: bigint) => (lost.has(peer) ? undefined : linkTo(peer).link),
    },
    answerOfError: ({ message }: Error) => ({
      kind: AnswerKind.failure,
      protobuf: false,
      bytes: Buffer.from(message),
      blocks: [],
    }),
    foldFor: (_: TreeSetup, endpoint: number, reduction: string) => {
      routed.push(["foldFor", endpoint, reduction]);
      return undefined;
    },
  };
  const casts = new CastRouter(host as unknown as CastHost);
  const frame = (
    from: RecordedLink,
    kind: number,
    { a = 70, b = 0, slot = 0, flags = 0 }: Partial<TreeFrame> = {},
    body: (w: Writer) => void = () => {},
    blocks?: readonly Uint8Array[],
  ): void => {
    const w = new Writer(256);
    body(w);
    const bytes = w.copy(0);
    const r = new Reader();
    r.reset(bytes, new DataView(bytes.buffer), 0, bytes.length, blocks);
    casts.handleFrame(from.link, { kind, flags, slot, a, b } as TreeFrame, r);
    bytes.fill(0xee);
  };
  const above = linkTo(root);
  /** Sets up a part of a tree whose parent is the root. */
  const plant = (more: Partial<TreeSetup> = {}, handle = 70, from = above) =>
    frame(from, FrameKind.tree, { a: handle }, (w) => writeSetup(w, { ...setup, ...more }));
  const cast = (seq: number, flags: number = CastFlag.call, index = seq - 1, handle = 70, from = above) =>
    frame(from, FrameKind.cast, { a: handle, b: seq, flags }, (w) => {
      const positions = [{ count: 2, index, ordering: CastOrdering.plain }];
      writeCast(w, { extension: undefined, finished: [], reduction: "", positions }, Uint8Array.of(seq));
    });
  const below = linkTo(3n);
  const sent = (link: RecordedLink) => link.sent();
  const state = { posted, synced, abandoned, closed, routed, bound };
  return { casts, frame, plant, cast, above, below, linkTo, lost, sent, ...state };
}

const kinds = (link: RecordedLink) => link.sent().map(({ kind }) => kind);
const answered = (link: RecordedLink) =>
  link
    .sent()
    .filter(({ kind }) => kind === FrameKind.answers)
    .flatMap(({ b, r, blocks }) =>
      readAnswers(r, blocks).map(({ ranks, bytes }) => `cast ${b} rank ${ranks[0]!.start}: ${bytes}`),
    );

function answer({ call }: Posted, text: string): void {
  const bytes = Buffer.from(text);
  const r = new Reader();
  r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length);
  call!.answered(r);
}

const answers = (rank: number, text: string) => (w: Writer) =>
  writeAnswers(w, [
    {
      kind: AnswerKind.value,
      isProtobuf: false,
      bytes: Buffer.from(text),
      blocks: [],
      ranks: [{ start: rank, count: 1 }],
    },
  ]);
const noneDiffers = (w: Writer): void => writeU32(w, 0);
const loss = (dead: bigint) => (w: Writer) => {
  writeU64(w, dead);
  writeText(w, "it is gone");
};

test("a setup is forwarded to the branch, and the part is reported as ready when the branch is ready", () => {
  const { plant, frame, above, below, bound } = proc();
  plant();
  const [tree] = below.sent();
  expect(headerOf(tree!)).toEqual([FrameKind.tree, 0, 0, 1, 0]);
  expect(readSetup(tree!.r, 7n, 3n)).toEqual({ ...setup, procs: [setup.procs[1]] });
  expect(above.sent()).toEqual([]);
  frame(below, FrameKind.treeReady, { a: 1 }, (w) => {
    writeU32(w, 1);
    writeU64(w, 33n);
    writeText(w, "another");
    writeU32(w, 1);
    writeU32(w, 1);
    writeU32(w, 1);
  });
  const [ready] = above.sent();
  expect(headerOf(ready!)).toEqual([FrameKind.treeReady, 0, 0, 70, 0]);
  expect([readU32(ready!.r), readU64(ready!.r), readText(ready!.r)]).toEqual([1, 33n, "another"]);
  expect(bound).toEqual([setup.interface]);
});

test("a setup for another proc or with unread bytes is a protocol error", () => {
  const { frame, above, plant } = proc();
  expect(() => plant({ procs: setup.procs.slice(1) })).toThrow(
    new ProtocolError("cannot read tree: the tree begins with another process"),
  );
  const long = (w: Writer): void => {
    writeSetup(w, setup);
    writeU32(w, 0);
  };
  expect(() => frame(above, FrameKind.tree, {}, long)).toThrow(new ProtocolError("cannot read tree: 4 bytes too many"));
});

test("a cast is delivered to the actors here and forwarded to the branch, and the answers are sent up", () => {
  const { plant, cast, frame, above, below, posted } = proc();
  plant();
  below.sent();
  cast(1);
  const [frameBelow, ...none] = below.sent();
  expect([headerOf(frameBelow!), frameBelow!.blocks, none]).toEqual([[FrameKind.cast, CastFlag.call, 0, 1, 1], [], []]);
  expect(posted.map(({ bytes }) => bytes)).toEqual([[1]]);
  answer(posted[0]!, "here");
  frame(below, FrameKind.answers, { a: 1, b: 1 }, answers(1, "below"));
  expect(answered(above)).toEqual(["cast 1 rank 0: here", "cast 1 rank 1: below"]);
});

test("blocks are forwarded with the casts and the answers that they belong to", () => {
  const { plant, frame, above, below } = proc();
  plant({ procs: [{ ...setup.procs[0]!, ranks: [] }, setup.procs[1]!] });
  below.sent();
  const block = Uint8Array.of(4, 5);
  frame(
    above,
    FrameKind.cast,
    { b: 1, flags: CastFlag.call },
    (w) =>
      writeCast(
        w,
        { extension: undefined, finished: [], reduction: "sum", positions: [{ count: 2, index: 0, ordering: 0 }] },
        block,
      ),
    [block],
  );
  expect(below.sent()[0]!.blocks).toEqual([block]);
  const group = { kind: AnswerKind.value, isProtobuf: false, bytes: Buffer.alloc(0), ranks: [{ start: 1, count: 1 }] };
  const writing = (w: Writer): void => {
    writeAnswers(w, [{ ...group, blocks: [block] }]);
    w.blocks.length = 0;
  };
  frame(below, FrameKind.answers, { a: 1, b: 1 }, writing, [block]);
  expect(above.sent()[0]!.blocks).toEqual([block]);
  expect(() => frame(below, FrameKind.answers, { a: 1, b: 1 }, writing)).toThrow(ProtocolError);
});

test("taken casts are reported at once if the root asks for a report", () => {
  const { plant, cast, frame, above, below, posted } = proc();
  plant({ window: { casts: 100, bytes: 40_000 } });
  cast(1, 0);
  frame(below, FrameKind.taken, { a: 1, b: 5 });
  posted[0]!.waiter.credited();
  expect(kinds(above)).toEqual([]);
  below.sent();
  frame(above, FrameKind.treeFlush, { b: FlushMode.tell });
  expect(above.sent().map(headerOf)).toEqual([[FrameKind.taken, 0, 0, 70, 1]]);
  expect(below.sent().map(headerOf)).toEqual([[FrameKind.treeFlush, 0, 0, 1, FlushMode.tell]]);
});

test("a cancelled cast is cancelled at the actor here and on the branch", () => {
  const { plant, cast, frame, above, below, abandoned } = proc();
  plant();
  cast(1);
  below.sent();
  frame(above, FrameKind.castCancel, { b: 1, slot: 3 });
  expect(abandoned).toEqual([3]);
  expect(below.sent().map(headerOf)).toEqual([[FrameKind.castCancel, 0, 3, 1, 1]]);
});

test("a cast that waits for a direct message is delivered when a release says that none will come", () => {
  const { plant, frame, above, below, posted } = proc();
  plant();
  below.sent();
  frame(above, FrameKind.cast, { b: 1 }, (w) =>
    writeCast(
      w,
      {
        extension: undefined,
        finished: [],
        reduction: "",
        positions: [{ count: 2, index: 0, ordering: CastOrdering.marked }],
      },
      Uint8Array.of(1),
    ),
  );
  expect(posted).toEqual([]);
  frame(above, FrameKind.castRelease, { b: 100 }, (w) => writeU32(w, 0));
  expect(posted).toHaveLength(1);
  expect(below.sent().map(headerOf).at(-1)).toEqual([FrameKind.castRelease, 0, 0, 1, 100]);
  // The frame is parsed although its part does not exist.
  expect(() => frame(above, FrameKind.castRelease, { b: 100 }, () => {})).toThrow(
    new ProtocolError("cannot read castRelease: the message ends too early"),
  );
});

test("lost procs and bounced casts of a branch are reported to the parent", () => {
  const { plant, frame, above, below } = proc();
  plant();
  frame(below, FrameKind.treeLost, { a: 1 }, loss(3n));
  frame(below, FrameKind.castBounce, { a: 1, b: deliveryReasons.indexOf("stopped") }, (w) => {
    writeText(w, "B.one");
    writeText(w, "it has stopped");
  });
  frame(below, FrameKind.castBounce, { a: 1, b: 99 }, (w) => {
    writeText(w, "B.one");
    writeText(w, "it has stopped");
  });
  const [lost, bounce, strange] = above.sent();
  expect(headerOf(lost!)).toEqual([FrameKind.treeLost, 0, 0, 70, 0]);
  expect([readU64(lost!.r), readText(lost!.r)]).toEqual([3n, "it is gone"]);
  expect(headerOf(bounce!)).toEqual([FrameKind.castBounce, 0, 0, 70, deliveryReasons.indexOf("stopped")]);
  expect([readText(bounce!.r), readText(bounce!.r)]).toEqual(["B.one", "it has stopped"]);
  expect(headerOf(strange!).at(-1)).toBe(deliveryReasons.indexOf("unknown"));
});

test("frames for parts and branches that do not exist or belong to another link are ignored", () => {
  const { plant, cast, frame, above, below, linkTo, posted } = proc();
  plant();
  below.sent();
  const other = linkTo(5n);
  cast(1, CastFlag.call, 0, 71);
  cast(1, CastFlag.call, 0, 70, other);
  for (const kind of [FrameKind.castCancel, FrameKind.treeFlush]) {
    frame(other, kind, { b: 1 });
    frame(above, kind, { a: 71, b: 1 });
  }
  for (const [kind, body] of [
    [FrameKind.treeReady, noneDiffers],
    [FrameKind.answers, answers(1, "x")],
    [FrameKind.taken, () => {}],
    [FrameKind.castBounce, () => {}],
  ] as const) {
    frame(other, kind, { a: 1 }, body);
    frame(below, kind, { a: 2 }, body);
  }
  frame(other, FrameKind.treeLost, { a: 1 }, loss(3n));
  expect([posted, above.sent(), below.sent()]).toEqual([[], [], []]);
  cast(1);
  expect(posted).toHaveLength(1);
});

test("malformed frames of a branch are protocol errors", () => {
  const { plant, frame, below } = proc();
  plant();
  const long = (body: (w: Writer) => void) => (w: Writer) => {
    body(w);
    writeU32(w, 0);
  };
  const bounce = (w: Writer): void => {
    writeText(w, "B.one");
    writeText(w, "why");
  };
  for (const [kind, body, what] of [
    [FrameKind.treeReady, noneDiffers, "treeReady"],
    [FrameKind.answers, answers(1, "x"), "answers"],
    [FrameKind.treeLost, loss(3n), "treeLost"],
    [FrameKind.castBounce, bounce, "castBounce"],
  ] as const) {
    expect(() => frame(below, kind, { a: 1 }, long(body))).toThrow(`cannot read ${what}: 4 bytes too many`);
  }
  expect(() => frame(below, FrameKind.castRelease, { a: 70 }, () => {})).not.toThrow();
});

test("a new tree of a lineage ends the part of the old tree, and keeps the unfinished casts", () => {
  const { plant, cast, above, below, posted, linkTo, casts } = proc();
  plant();
  for (const seq of [1, 2]) cast(seq);
  below.sent();
  const other = linkTo(5n);
  plant({ tree: 6, unfinished: [2] }, 80, other);
  // The procs below are not told, because they have a part of the new tree.
  expect(kinds(below)).toEqual([FrameKind.tree]);
  cast(2, CastFlag.call, 1, 80, other);
  cast(1, CastFlag.call, 0, 80, other);
  for (const one of posted) answer(one, "x");
  expect(answered(above)).toEqual([]);
  expect(answered(other)).toEqual(["cast 1 rank 0: its answer was lost on the way, and is not known any more"]);
  // A part of the old tree that arrives late is not set up.
  plant({ tree: 5 }, 90, linkTo(6n));
  expect(kinds(below)).toEqual([FrameKind.cast, FrameKind.cast]);
  expect(casts.nextTreeNumber()).toBe(1);
  expect(casts.nextTreeNumber()).toBe(2);
});

test("a new tree does not end the trees of other lineages", () => {
  const { plant, cast, above, posted } = proc();
  plant();
  plant({ tree: 6, lineage: 6 }, 71);
  plant({ tree: 7, lineage: 6 }, 72);
  cast(1, 0);
  expect(posted).toHaveLength(1);
  cast(2, 0, 1, 71);
  expect(posted).toHaveLength(1);
  cast(2, 0, 1, 72);
  expect(posted).toHaveLength(2);
  expect(above.sent()).toEqual([]);
});

test("a dropped tree ends here and below, and its sender can cast over another tree", () => {
  const { plant, cast, frame, above, below, posted, closed } = proc();
  plant();
  below.sent();
  frame(above, FrameKind.treeFlush, { b: FlushMode.drop });
  expect(below.sent().map(headerOf)).toEqual([[FrameKind.treeFlush, 0, 0, 1, FlushMode.drop]]);
  cast(1, 0);
  expect([posted, closed]).toEqual([[], []]);
  // Frames that still come from below are not parsed.
  expect(() => frame(below, FrameKind.treeReady, { a: 1 })).not.toThrow();
  // The number of the lineage can be used again.
  plant({ tree: 4, lineage: 5 });
  cast(1, 0);
  expect(posted).toHaveLength(1);
});

test("an ended sender is remembered, and its late casts are refused", () => {
  const { plant, cast, frame, above, below, posted, closed, abandoned, casts } = proc();
  plant();
  cast(1);
  below.sent();
  frame(above, FrameKind.treeFlush, { b: FlushMode.end });
  expect(below.sent().map(headerOf)).toEqual([[FrameKind.treeFlush, 0, 0, 1, FlushMode.end]]);
  const actor = { kind: "actor", proc: self, number: 20n, rank: 100, owner: 21n, fingerprint: 0n };
  expect([closed, abandoned]).toEqual([[actor], [0]]);
  const arrivals = casts.arrivalsFor(sender, { mesh: 20n, owner: 21n, rank: 5 });
  expect(arrivals.addCast({ seq: 1, index: 0, ordering: CastOrdering.plain, post: () => {}, cancel: () => {} })).toBe(
    false,
  );
  const others = [
    casts.arrivalsFor({ ...sender, incarnation: 1 }, { mesh: 20n, owner: 21n, rank: 5 }),
    casts.arrivalsFor(sender, { mesh: 200n, owner: 21n, rank: 5 }),
  ];
  for (const one of others) {
    expect(one.addCast({ seq: 1, index: 0, ordering: CastOrdering.plain, post: () => {}, cancel: () => {} })).toBe(
      true,
    );
  }
  expect(posted).toHaveLength(1);
});

test("the last 4096 ended senders are remembered, and older ones are forgotten", () => {
  const { casts } = proc();
  const isOver = (rank: number): boolean =>
    !casts
      .arrivalsFor({ ...sender, rank }, { mesh: 20n, owner: 21n, rank: 0 })
      .addCast({ seq: 1, index: 0, ordering: CastOrdering.plain, post: () => {}, cancel: () => {} });
  for (let rank = 0; rank <= 4096; rank++) casts.senderEnded({ ...sender, rank }, 20n);
  expect([isOver(0), isOver(1), isOver(4096)]).toEqual([false, true, true]);
});

test("each pair of sender and actor has one set of arrivals, which is kept as long as it is used", () => {
  const { casts } = proc();
  const to = { mesh: 20n, owner: 21n, rank: 5 };
  const known = casts.arrivalsFor(sender, to);
  expect(casts.arrivalsFor({ ...sender }, { ...to })).toBe(known);
  for (const other of [
    casts.arrivalsFor({ ...sender, proc: 8n }, to),
    casts.arrivalsFor({ ...sender, mesh: 8n }, to),
    casts.arrivalsFor({ ...sender, rank: 8 }, to),
    casts.arrivalsFor({ ...sender, incarnation: 8 }, to),
    casts.arrivalsFor(sender, { ...to, mesh: 8n }),
    casts.arrivalsFor(sender, { ...to, rank: 8 }),
  ]) {
    expect(other).not.toBe(known);
  }
  const [, other] = [casts.senderEnded(sender, 2n), casts.arrivalsFor(sender, to)];
  expect(other).toBe(known);
  casts.senderEnded(sender, 20n);
  const next = casts.arrivalsFor(sender, to);
  expect(next).not.toBe(known);
  // The arrivals stay until everything that has come has passed.
  const [late, post] = [{ ...to, rank: 6 }, (one: OrderedArrivals): void => void one.session];
  const waiting = proc().casts;
  const used = waiting.arrivalsFor(sender, late);
  used.addCast({ seq: 1, index: 0, ordering: CastOrdering.plain, post, cancel: () => {} });
  waiting.senderEnded(sender, 20n);
  expect(waiting.arrivalsFor(sender, late)).toBe(used);
  used.syncReceived({} as Lane, SyncKind.passed, 1);
  expect(waiting.arrivalsFor(sender, late)).not.toBe(used);
});

const laneOf = (kind: string, more: object = {}) =>
  ({
    sender,
    target: { kind, number: 20n, owner: 21n, rank: 5 },
    id: 0,
    link: { peer: root, sessions: [] },
    destination: "the actor",
    ...more,
  }) as unknown as Lane;

test("a lane of direct messages waits for the casts that its sender names", () => {
  const { casts } = proc();
  const lane = laneOf("actor");
  casts.laneSynced(lane, SyncKind.after, 1);
  expect(lane.destination).not.toBe("the actor");
  casts
    .arrivalsFor(sender, { mesh: 20n, owner: 21n, rank: 5 })
    .addCast({ seq: 1, index: 0, ordering: CastOrdering.plain, post: () => {}, cancel: () => {} });
  expect(lane.destination).toBe("the actor");
});

test("a `sync` frame is refused on a lane to a port, and `passed` on a lane that does not carry casts", () => {
  const { casts, synced } = proc();
  expect(() => casts.laneSynced(laneOf("port"), SyncKind.after, 1)).toThrow(
    new ProtocolError("cannot read sync: its lane leads to a port"),
  );
  const refused = new ProtocolError("cannot read sync: its lane does not carry casts");
  expect(() => casts.laneSynced(laneOf("actor"), SyncKind.passed, 1)).toThrow(refused);
  const arrivals = casts.arrivalsFor(sender, { mesh: 20n, owner: 21n, rank: 5 });
  const [missing, wrong] = [[], [{ sender: {} }]];
  for (const sessions of [missing, wrong]) {
    expect(() => casts.laneSynced(laneOf("actor", { link: { peer: self, sessions } }), SyncKind.passed, 1)).toThrow(
      refused,
    );
  }
  const far = laneOf("actor", { link: { peer: root, sessions: [{ sender: arrivals }] } });
  expect(() => casts.laneSynced(far, SyncKind.passed, 1)).toThrow(refused);
  const lane = laneOf("actor");
  arrivals.addCast({ seq: 1, index: 0, ordering: CastOrdering.plain, post: (to) => void to.session, cancel: () => {} });
  casts.laneSynced(lane, SyncKind.after, 1);
  expect([lane.destination === ("the actor" as never), synced]).toEqual([false, [[SyncKind.passed, 1]]]);
  casts.laneSynced(laneOf("actor", { link: { peer: self, sessions: [{ sender: arrivals }] } }), SyncKind.passed, 1);
  expect(lane.destination).toBe("the actor");
});

test("equal interfaces of several trees are the same object", () => {
  const { plant, bound, below } = proc();
  const known = setup.interface;
  const others = [
    { ...known, key: "other" },
    { ...known, name: "other" },
    { ...known, fingerprint: 8n },
    { ...known, endpoints: [{ id: 2, name: "one" }] },
  ];
  plant();
  plant({ tree: 6, lineage: 6 }, 71);
  expect(bound[1]).toBe(bound[0]);
  for (const [i, other] of others.entries()) {
    plant({ tree: 7 + i, lineage: 7 + i, interface: other }, 72 + i);
    expect(bound.at(-1)).toEqual(other);
  }
  expect(bound).toHaveLength(6);
  below.sent();
});

/** Creates a part of a tree whose root is `root` and whose parent is the proc 5. */
function middle(more: Partial<TreeSetup> = {}) {
  const made = proc();
  const parent = made.linkTo(5n);
  made.plant(more, 70, parent);
  made.below.sent();
  made.lost.add(5n);
  return { ...made, parent };
}

test("the loss of the parent proc is reported directly to the root", () => {
  const { casts, parent, above, routed, cast, posted } = middle();
  casts.linkEnded(parent.link, new DeliveryError("peer-down", "its process has ended"));
  const [lost] = above.sent();
  expect(routed.at(-1)).toEqual([root, "at the root", 21n]);
  // The frame carries the number of the tree instead of the number of a part.
  expect(headerOf(lost!)).toEqual([FrameKind.treeLost, 0, 0, 5, 1]);
  expect([readU64(lost!.r), readText(lost!.r)]).toEqual([5n, "its process has ended"]);
  cast(1, 0, 0, 70, parent);
  expect(posted).toEqual([]);
});

test("if the root cannot be reached either, its sender counts as ended and the branch is told of the loss", () => {
  const { casts, parent, below, closed, lost } = middle();
  lost.add(root);
  casts.linkEnded(parent.link, new DeliveryError("peer-down", "its process has ended"));
  expect(below.sent().map(headerOf)).toEqual([[FrameKind.treeFlush, 0, 0, 1, FlushMode.orphan]]);
  expect(closed).toHaveLength(1);
});

test("a proc whose parent has lost the root reports directly to the root", () => {
  const { parent, above, frame, cast, posted, below } = middle();
  frame(parent, FrameKind.treeFlush, { b: FlushMode.orphan });
  const [lost] = above.sent();
  expect(headerOf(lost!)).toEqual([FrameKind.treeLost, 0, 0, 5, 1]);
  expect([readU64(lost!.r), readText(lost!.r)]).toEqual([5n, "it cannot hear the root any more"]);
  cast(1, 0, 0, 70, parent);
  expect([posted, below.sent()]).toEqual([[], []]);
});

test("the end of the link to the root ends the part, and also the sender if there is no other link", () => {
  for (const another of [true, false]) {
    const { casts, plant, above, below, lost, closed, cast, posted } = proc();
    plant();
    below.sent();
    if (!another) lost.add(root);
    casts.linkEnded(above.link, new DeliveryError("peer-down", "its process has ended"));
    cast(1, 0);
    expect(posted).toEqual([]);
    expect(kinds(below)).toEqual(another ? [] : [FrameKind.treeFlush]);
    expect([closed.length, above.sent()]).toEqual([another ? 0 : 1, []]);
  }
});

test("a proc below whose link has ended is reported to the parent as lost", () => {
  const { casts, plant, above, below, linkTo } = proc();
  plant();
  casts.linkEnded(linkTo(4n).link, new DeliveryError("peer-down", "it has ended"));
  expect(above.sent()).toEqual([]);
  casts.linkEnded(below.link, new DeliveryError("peer-down", "it has ended"));
  const [lost] = above.sent();
  expect([headerOf(lost!), readU64(lost!.r)]).toEqual([[FrameKind.treeLost, 0, 0, 70, 0], 3n]);
});

test("direct messages of a process no longer wait for casts after the process has ended", () => {
  const { casts, lost, linkTo } = proc();
  const lane = laneOf("actor", { isOpen: true });
  casts.laneSynced(lane, SyncKind.after, 1);
  casts.linkEnded(linkTo(root).link, new DeliveryError("peer-down", "ended"));
  expect(lane.destination).not.toBe("the actor");
  lost.add(3n);
  casts.linkEnded(linkTo(3n).link, new DeliveryError("peer-down", "ended"));
  expect(lane.destination).not.toBe("the actor");
  lost.add(root);
  casts.linkEnded(linkTo(root).link, new DeliveryError("peer-down", "ended"));
  expect(lane.destination).toBe("the actor");
});

test("a router that is closed fails the calls of its own senders, and then reports no lost procs", () => {
  const { casts, plant, above, below } = proc();
  plant();
  const failed: unknown[] = [];
  casts.senders.add({ failCalls: (error: Error) => failed.push(error) } as unknown as CastSender);
  const why = new DeliveryError("closed", "closing");
  casts.close(why);
  casts.linkEnded(below.link, why);
  expect([failed, above.sent()]).toEqual([[why], []]);
});

test("requests about a mesh are passed only to the senders that cast to this mesh", async () => {
  const { casts } = proc();
  const asked: string[] = [];
  for (const id of [20n, 30n]) {
    const note = (what: string) => (): Promise<void> => {
      asked.push(`${what} ${id}`);
      return Promise.resolve();
    };
    const castSender = {
      mesh: { id },
      whenTaken: note("taken"),
      whenAnswered: note("answered"),
      meshStopped: note("stopped"),
    };
    casts.senders.add(castSender as unknown as CastSender);
  }
  await casts.whenTaken(20n);
  await casts.whenAnswered(20n);
  casts.meshStopped(30n);
  expect(asked).toEqual(["taken 20", "answered 20", "stopped 30"]);
});

/** Creates the root node of a tree, which records its calls. */
function top(casts: CastRouter, tree: number, at = self) {
  const told: unknown[][] = [];
  const note =
    (name: string) =>
    (...what: unknown[]): number =>
      told.push([name, ...what]);
  const node = { setup: { root: at, tree }, lost: note("lost"), drop: note("drop"), peerDown: note("peerDown") };
  const planted = casts.addRootNode(() => node as unknown as TreeNode, sender, 20n);
  expect(planted).toBe(node);
  return { told, planted };
}

test("any proc can report a lost proc to the root, with the number of the tree", () => {
  const { casts, frame, linkTo, plant } = proc();
  plant();
  const [one, far, other] = [top(casts, 7), top(casts, 8, 4n), top(casts, 8)];
  frame(linkTo(6n), FrameKind.treeLost, { a: 8, b: 1 }, loss(3n));
  frame(linkTo(6n), FrameKind.treeLost, { a: 9, b: 1 }, loss(3n));
  // Without the mark, the number refers to a branch, and there is no such branch.
  frame(linkTo(6n), FrameKind.treeLost, { a: 8, b: 0 }, loss(3n));
  expect([one.told, far.told]).toEqual([[], []]);
  expect(other.told).toEqual([["lost", 3n, new DeliveryError("unknown", "it is gone")]]);
  expect((other.told[0]![2] as DeliveryError).reason).toBe("unknown");
  casts.removeRootNode(other.planted, FlushMode.drop);
  frame(linkTo(6n), FrameKind.treeLost, { a: 8, b: 1 }, loss(3n));
  expect(other.told.slice(1)).toEqual([["drop", FlushMode.drop]]);
});

test("a direct report to the root refers to a tree, even if a branch has the same number", () => {
  const { casts, frame, plant, above, below } = proc();
  plant();
  const one = top(casts, 1);
  frame(below, FrameKind.treeLost, { a: 1, b: 1 }, loss(4n));
  expect([one.told.length, above.sent()]).toEqual([1, []]);
});

test("a dead proc is reported only to the trees whose root is on this proc", () => {
  const { casts, plant, above } = proc();
  plant();
  const [own, far] = [top(casts, 7), top(casts, 8, 4n)];
  const why = new DeliveryError("peer-down", "its host is silent");
  casts.peerDown(3n, why);
  expect([own.told, far.told, above.sent()]).toEqual([[["peerDown", 3n, why]], [], []]);
});

test("a sender on this proc whose receivers have ended is forgotten, and can start again", () => {
  const { casts } = proc();
  const ends: unknown[] = [];
  const plantAgain = () =>
    casts.addRootNode(
      (end) => {
        ends.push(end);
        return {} as TreeNode;
      },
      sender,
      20n,
    );
  plantAgain();
  plantAgain();
  expect(ends[1]).toBe(ends[0]);
  casts.receiversEnded(sender, 20n);
  plantAgain();
  expect(ends[2]).not.toBe(ends[0]);
  expect(
    casts
      .arrivalsFor(sender, { mesh: 20n, owner: 21n, rank: 5 })
      .addCast({ seq: 1, index: 0, ordering: CastOrdering.plain, post: () => {}, cancel: () => {} }),
  ).toBe(true);
});

test("the router passes on the properties and functions of its host", () => {
  const { casts, routed } = proc();
  expect([casts.id, casts.location, casts.limits.treeFanout]).toEqual([self, "here", 2]);
  expect(String(casts.answerOfError(new Error("why")).bytes)).toBe("why");
  expect(casts.foldFor(setup, 3, "sum")).toBeUndefined();
  expect(routed).toEqual([["foldFor", 3, "sum"]]);
  const link = {} as Link;
  expect(() => casts.linkEnded(link, new DeliveryError("closed", "x"))).not.toThrow();
});

test("the loss of a root ends only the trees of that root, including parts below other procs", () => {
  const { casts, plant, parent, above, below, lost, cast, posted, linkTo } = middle();
  const other = linkTo(8n);
  const stranger = { root: 8n, sender: { ...sender, proc: 8n } };
  plant({ ...stranger, tree: 6, lineage: 6 }, 71, parent);
  plant({ ...stranger, tree: 7, lineage: 7 }, 70, other);
  below.sent();
  lost.add(root);
  casts.linkEnded(above.link, new DeliveryError("peer-down", "its process has ended"));
  expect(below.sent().map(headerOf)).toEqual([[FrameKind.treeFlush, 0, 0, 1, FlushMode.orphan]]);
  cast(1, 0, 0, 70, parent);
  expect(posted).toEqual([]);
  cast(1, 0, 0, 71, parent);
  cast(2, 0, 1, 70, other);
  expect(posted).toHaveLength(2);
});

test("a tree replaces only trees of its own root", () => {
  const { plant, cast, posted, linkTo } = proc();
  plant();
  plant({ root: 8n, sender: { ...sender, proc: 8n }, tree: 6, lineage: 5 }, 71, linkTo(8n));
  cast(1, 0);
  expect(posted).toHaveLength(1);
});

test("an error that is not a DeliveryError is thrown if it occurs on the way to the root", () => {
  const { casts, parent } = middle();
  casts.routes.linkTo = () => {
    throw new TypeError("broken");
  };
  const why = new DeliveryError("peer-down", "its process has ended");
  expect(() => casts.linkEnded(parent.link, why)).toThrow(new TypeError("broken"));
});
