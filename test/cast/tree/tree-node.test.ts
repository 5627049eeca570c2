/** Tests of one part of a tree with a recorded parent, branches and proc. */
import { expect, test } from "vitest";
import type { CastArrival } from "../../../runtime/cast/receiver/cast-arrival.js";
import { CastReceiver, type CastReply } from "../../../runtime/cast/receiver/cast-receiver.js";
import type { OrderedArrivals, OrderedCast } from "../../../runtime/cast/receiver/ordered-arrivals.js";
import { type AnswerGroup, AnswerKind, type RankAnswer } from "../../../runtime/cast/tree/answers.js";
import { type Branch, FlushMode } from "../../../runtime/cast/tree/branch.js";
import {
  CastFlag,
  type CastHead,
  CastOrdering,
  type OrderPosition,
  writeCast,
} from "../../../runtime/cast/tree/cast-frame.js";
import type { SchemaGroup } from "../../../runtime/cast/tree/schema-group.js";
import { TreeNode } from "../../../runtime/cast/tree/tree-node.js";
import type { AnswerFold, TreeHost } from "../../../runtime/cast/tree/tree-node-types.js";
import { type PlannedProc, readSetup, type TreeSetup } from "../../../runtime/cast/tree/tree-setup.js";
import { DeliveryError } from "../../../runtime/link/errors.js";
import { FrameFlag, FrameKind, ProtocolError } from "../../../runtime/link/frame/frame.js";
import type { Session } from "../../../runtime/link/outbound/session.js";
import { Writer } from "../../../runtime/wire/writer.js";
import { headerOf, type RecordedLink, recordedLink, type SentFrame } from "../recorded-link.js";

const planned = (proc: bigint, ...views: readonly number[]): PlannedProc => ({
  proc,
  location: `at ${proc}`,
  ranks: views.map((viewRank) => ({ viewRank, meshRank: 100 + viewRank })),
});

/** Ranks 0 and 1 are on the part's own proc. */
const procs = [planned(1n, 0, 1), planned(2n, 2), planned(3n, 3), planned(4n, 4)];

const setup: TreeSetup = {
  root: 9n,
  location: "root",
  tree: 5,
  lineage: 5,
  unfinished: [],
  sender: { universe: 7n, proc: 9n, mesh: 2n, rank: 0, incarnation: 0, name: "sender" },
  mesh: 20n,
  owner: 21n,
  interface: {
    key: "a#B",
    name: "B",
    fingerprint: 7n,
    endpoints: [
      { id: 1, name: "one" },
      { id: 2, name: "two" },
    ],
  },
  size: 5,
  extent: undefined,
  window: { casts: 4, bytes: 4000 },
  procs,
};

interface Options {
  readonly setup?: Partial<TreeSetup>;
  readonly apart?: readonly PlannedProc[];
  /** The error that makes the procs below unreachable. */
  readonly noWay?: Error;
  readonly fold?: AnswerFold;
  /** The ranks of the mesh at which casts have already arrived. */
  readonly repeated?: readonly number[];
}

/** Creates a part of a tree with at most two branches, and records its calls. */
function part(options: Options = {}) {
  const told: unknown[][] = [];
  const note =
    (name: string) =>
    (...what: unknown[]): number =>
      told.push([name, ...what]);
  const links = new Map<bigint, RecordedLink>();
  const agreed = new Map<number, (other: SchemaGroup["schema"] | undefined) => void>();
  const arrived: { readonly base: number; readonly cast: CastArrival }[] = [];
  const made = new Map<number, OrderedArrivals>();
  let handles = 0;
  const host = {
    id: 1n,
    limits: { treeFanout: 2 },
    routes: {
      linkTo: (proc: bigint, location: string, owner: bigint) => {
        if (options.noWay !== undefined) throw options.noWay;
        expect([location, owner]).toEqual([`at ${proc}`, 21n]);
        const link = recordedLink(proc);
        links.set(proc, link);
        return link.link;
      },
    },
    assignHandle: () => ++handles,
    forgetBranch: (branch: Branch) => told.push(["forgotten", branch.handle]),
    arrivalsFor: (sender: unknown, { mesh, owner, rank }: { mesh: bigint; owner: bigint; rank: number }) => {
      expect([sender, mesh, owner]).toEqual([setup.sender, 20n, 21n]);
      const arrivals = {
        askForSchema: (known: unknown, done: (other: SchemaGroup["schema"] | undefined) => void) => {
          expect(known).toBe(node.setup.interface);
          agreed.set(rank, done);
        },
        addCast: (cast: OrderedCast) => {
          arrived.push({ base: rank, cast: cast as CastArrival });
          return options.repeated?.includes(rank) !== true;
        },
        releaseUpTo: (index: number) => told.push(["released", rank, index]),
        cancel: (seq: number) => told.push(["cancelled", rank, seq]),
      } as unknown as OrderedArrivals;
      made.set(rank, arrivals);
      return arrivals;
    },
    answerOfError: (error: Error): RankAnswer => {
      const reason = error instanceof DeliveryError ? `${error.reason}: ` : "";
      return answerOf(AnswerKind.failure, reason + error.message);
    },
    foldFor: (...what: unknown[]) => {
      told.push(["foldFor", ...what.slice(1)]);
      return options.fold;
    },
  } as unknown as TreeHost;
  const top = {
    ready: note("ready"),
    answers: (seq: number, groups: readonly AnswerGroup[]) => told.push(["answers", seq, groups.map(described)]),
    taken: note("taken"),
    lost: note("lost"),
    bounced: note("bounced"),
  };
  const end = new CastReceiver();
  const node: TreeNode = new TreeNode(host, end, { ...setup, ...options.setup }, top, options.apart);
  /** Returns the frames that were sent to the procs below, by proc. */
  const sent = () =>
    [...links].map(([proc, link]) => [proc, link.sent()] as const).filter(([, frames]) => frames.length > 0);
  const news = () => told.splice(0);
  return { node, end, host, links, agreed, arrived, made, sent, news };
}

function answerOf(kind: number, text: string): RankAnswer {
  return { kind, isProtobuf: false, bytes: Buffer.from(text), blocks: [] };
}

const groupOf = (text: string, start: number, count = 1, kind: number = AnswerKind.value): AnswerGroup => ({
  ...answerOf(kind, text),
  ranks: [{ start, count }],
});

function described({ bytes, ranks, kind }: AnswerGroup): string {
  const text = bytes.length > 100 ? `${bytes.length} bytes` : String(bytes);
  return `${ranks.map(({ start, count }) => `${start}+${count}`).join(" ")} ${kind}: ${text}`;
}

const everywhere: readonly OrderPosition[] = [{ count: 5, index: 0, ordering: CastOrdering.plain }];

/** The frame of a call of the first endpoint. */
function call(seq: number, head: Partial<CastHead> = {}, more: { flags?: number; endpoint?: number } = {}) {
  const w = new Writer(256);
  const message = Uint8Array.of(1, 2, 3);
  writeCast(w, { extension: undefined, finished: [], reduction: "", positions: everywhere, ...head }, message);
  return {
    seq,
    endpoint: 0,
    flags: CastFlag.call as number,
    body: w.copy(0),
    blocks: [] as readonly Uint8Array[],
    ...more,
  };
}

const headers = (frames: readonly (readonly [bigint, readonly SentFrame[]])[]) =>
  frames.map(([proc, all]) => [proc, all.map(headerOf)]);

/** Creates and starts a part of a tree, and returns its branches as well. */
function begun(options: Options = {}) {
  const made = part(options);
  const branches: Branch[] = [];
  const { assignHandle } = made.host;
  made.host.assignHandle = (branch) => {
    branches.push(branch);
    return assignHandle(branch);
  };
  made.node.start();
  const trees = made.sent();
  made.news();
  return { ...made, branches, trees };
}

test("the procs below are split among the branches, and each branch gets only its own procs", () => {
  const { trees, branches, node } = begun();
  expect(headers(trees)).toEqual([
    [2n, [[FrameKind.tree, 0, 0, 1, 0]]],
    [3n, [[FrameKind.tree, 0, 0, 2, 0]]],
  ]);
  const setups = trees.map(([proc, [frame]]) => readSetup(frame!.r, 7n, proc));
  expect(setups).toEqual([
    { ...setup, procs: [procs[1]] },
    { ...setup, procs: [procs[2], procs[3]] },
  ]);
  expect(branches.map(({ node: above }) => above === node)).toEqual([true, true]);
  expect(node.lineage).toBe(5);
});

test("separate procs get their own branches, and calls wait for their ranks", () => {
  const { node, news, branches, agreed, trees } = begun({
    setup: { procs: procs.slice(0, 2) },
    apart: [procs[2]!, procs[3]!],
  });
  expect(trees.map(([proc]) => proc)).toEqual([2n, 3n, 4n]);
  for (const done of agreed.values()) done(undefined);
  for (const branch of branches) node.ready(branch, []);
  expect(news()).toEqual([["ready", []]]);
  node.cast(call(1));
  for (const rank of [0, 1]) node.answered(1, rank, answerOf(AnswerKind.value, "x"));
  for (const [i, branch] of branches.entries()) node.answers(branch, 1, [groupOf("x", 2 + i)]);
  expect(news()).toEqual([["answers", 1, ["0+5 0: x"]]]);
});

test("a part is ready when all actors here and all branches have reported their schemas", () => {
  const { node, agreed, news, branches } = begun();
  const schema = { fingerprint: 3n, description: "other" };
  agreed.get(100)!(undefined);
  agreed.get(101)!(schema);
  node.ready(branches[1]!, [{ schema, ranks: [{ start: 3, count: 2 }] }]);
  expect([news(), branches.map(({ isReady }) => isReady)]).toEqual([[], [false, true]]);
  node.ready(branches[0]!, []);
  const others = [
    { schema, ranks: [{ start: 1, count: 1 }] },
    { schema, ranks: [{ start: 3, count: 2 }] },
  ];
  expect(news()).toEqual([["ready", others]]);
  expect(() => node.ready(branches[0]!, [])).toThrow(new ProtocolError("cannot read treeReady: it came twice"));
});

test("a part without actors and branches is ready at once, and a dropped part never becomes ready", () => {
  const alone = part({ setup: { procs: [planned(1n)] } });
  alone.node.start();
  expect(alone.news()).toEqual([["ready", []]]);
  const over = begun({ setup: { procs: procs.slice(0, 1) } });
  over.node.drop(undefined);
  for (const done of over.agreed.values()) done(undefined);
  expect(over.news()).toEqual([]);
});

test("frames of a branch about ranks of other branches are refused", () => {
  const { node, branches } = begun();
  const schema = { fingerprint: 3n, description: "other" };
  const others = [
    { schema, ranks: [{ start: 2, count: 1 }] },
    { schema, ranks: [{ start: 3, count: 1 }] },
  ];
  const refused = (what: string) => new ProtocolError(`cannot read ${what}: of ranks that are elsewhere`);
  expect(() => node.ready(branches[0]!, others)).toThrow(refused("treeReady"));
  expect(branches[0]!.isReady).toBe(false);
  expect(() => node.answers(branches[0]!, 1, [groupOf("x", 2), groupOf("x", 3)])).toThrow(refused("answers"));
});

test("an unreachable proc below is reported as lost in a later microtask, and other errors are thrown", async () => {
  const why = new DeliveryError("peer-down", "it is gone");
  const { node, news } = part({ noWay: why });
  node.start();
  expect(news()).toEqual([]);
  await Promise.resolve();
  expect(news()).toEqual([
    ["lost", 2n, why],
    ["lost", 3n, why],
  ]);
  const broken = part({ noWay: new TypeError("broken") });
  expect(() => broken.node.start()).toThrow(new TypeError("broken"));
});

test("the trees of one sender share the arrivals of an actor, and the newest tree reports bounces", () => {
  const { node, end, host, made, news } = begun();
  expect([...end.arrivals.keys()]).toEqual([100, 101]);
  const top: unknown[][] = [];
  const arrivals = end.arrivals.get(100)!;
  const why = new DeliveryError("stopped", "it has stopped");
  arrivals.onBounce!("B.one", why);
  expect(news()).toEqual([["bounced", "B.one", why]]);
  const bounced = (...what: unknown[]): number => top.push(what);
  new TreeNode(host, end, setup, { bounced } as never);
  expect([end.arrivals.get(100), made.size]).toEqual([arrivals, 2]);
  arrivals.onBounce!("B.one", why);
  expect([news(), top]).toEqual([[], [["B.one", why]]]);
  expect(node.setup.mesh).toBe(20n);
});

test("a cast is forwarded unchanged to all branches, and delivered to the actors here", () => {
  const { node, sent, arrived, news } = begun();
  const blocks = [new Uint8Array(7)];
  const frame = { ...call(6, {}, { flags: CastFlag.call | FrameFlag.protobuf, endpoint: 1 }), blocks };
  node.cast(frame);
  const frames = sent();
  const header = (handle: number) => [FrameKind.cast, CastFlag.call | FrameFlag.protobuf, 1, handle, 6];
  expect(headers(frames)).toEqual([
    [2n, [header(1)]],
    [3n, [header(2)]],
  ]);
  for (const [, [{ r, blocks: own }]] of frames as [bigint, [SentFrame]][]) {
    expect([Uint8Array.from(r.bytes.subarray(r.position)), own]).toEqual([frame.body, blocks]);
  }
  expect(arrived.map(({ base, cast: { seq, index, ordering } }) => [base, seq, index, ordering])).toEqual([
    [100, 6, 0, CastOrdering.plain],
    [101, 6, 0, CastOrdering.plain],
  ]);
  expect(news()).toEqual([]);
});

/** Posts a cast, and returns the message that it sends on the lane of casts. */
function posted({ cast }: { readonly cast: CastArrival }, extent = 33) {
  const calls: unknown[][] = [];
  const session = {
    slotOf: () => 40,
    link: { numberOfExtent: () => extent },
    post: (...what: unknown[]) => calls.push(what),
  } as unknown as Session;
  cast.post({ session } as OrderedArrivals);
  const [slot, body, extension, reply, waiter] = calls[0] ?? [];
  return { slot, body, extension, reply: reply as CastReply | undefined, waiter: waiter as { credited(): void } };
}

test("an actor here gets the message at the slot of the endpoint, with its rank and the extent of the view", () => {
  const extension = { timeout: 30, trace: undefined, chain: [7, 8] };
  const given = [
    [undefined, undefined, undefined],
    [extension, undefined, { ...extension, rank: 1, extent: 0 }],
    [undefined, { gpus: 5 }, { timeout: 0, trace: undefined, chain: [], rank: 1, extent: 33 }],
    [extension, { gpus: 5 }, { ...extension, rank: 1, extent: 33 }],
  ] as const;
  for (const [sent, extent, expected] of given) {
    const { node, arrived } = begun({ setup: { extent } });
    node.cast(call(6, { extension: sent }, { endpoint: 1 }));
    const { slot, body, extension: got, reply } = posted(arrived[1]!);
    const bytes = new Uint8Array([1, 2, 3]);
    expect([slot, got]).toEqual([41, expected]);
    expect(body).toEqual({ bytes, blocks: [], size: 3, isProtobuf: false });
    expect(reply?.route).toBe(node);
  }
});

test("the delivered message has the blocks, the total size and the layout of the cast", () => {
  const { node, arrived } = begun();
  const blocks = [new Uint8Array(7), new Uint8Array(5)];
  node.cast({ ...call(6, {}, { flags: FrameFlag.protobuf }), blocks });
  const { body, reply } = posted(arrived[0]!);
  expect(body).toEqual({ bytes: Uint8Array.of(1, 2, 3), blocks, size: 15, isProtobuf: true });
  expect(reply).toBeUndefined();
});

test("an empty cast delivers no message, and its answers are ignored", () => {
  const { node, arrived, news } = begun();
  node.cast(call(6, {}, { flags: CastFlag.empty | CastFlag.call }));
  expect(posted(arrived[0]!).body).toBeUndefined();
  node.answered(6, 0, answerOf(AnswerKind.failure, "x"));
  expect(news()).toEqual([]);
});

test("a cast to an endpoint that the interface does not have is a protocol error", () => {
  const { node, sent } = begun();
  const refused = new ProtocolError("cannot read cast: its interface has no endpoint 2");
  expect(() => node.cast(call(6, {}, { endpoint: 2 }))).toThrow(refused);
  expect(sent()).toEqual([]);
});

test("ranks that a cast skips get no message, and their answers are not awaited", () => {
  const { node, arrived, branches, news } = begun();
  const positions = [
    { count: 1, index: 0, ordering: CastOrdering.none },
    { count: 2, index: 4, ordering: CastOrdering.marked },
    { count: 1, index: 0, ordering: CastOrdering.none },
    { count: 1, index: 4, ordering: CastOrdering.plain },
  ];
  node.cast(call(6, { positions }));
  expect(arrived.map(({ base, cast: { index, ordering } }) => [base, index, ordering])).toEqual([
    [101, 4, CastOrdering.marked],
  ]);
  node.answered(6, 1, answerOf(AnswerKind.value, "x"));
  node.answers(branches[0]!, 6, [groupOf("x", 2)]);
  expect(news()).toEqual([]);
  node.answers(branches[1]!, 6, [groupOf("x", 4)]);
  expect(news()).toEqual([["answers", 6, ["1+2 4+1 0: x"]]]);
});

test("a cast counts as taken when its receivers here and all branches have taken it", () => {
  const { node, arrived, branches, news } = begun();
  const positions = [
    { count: 1, index: 0, ordering: CastOrdering.none },
    { count: 4, index: 0, ordering: CastOrdering.plain },
  ];
  node.cast(call(6, { positions }, { flags: 0 }));
  for (const branch of branches) node.taken(branch, 1);
  expect([news(), branches.map(({ takenCasts }) => takenCasts)]).toEqual([[], [1, 1]]);
  posted(arrived[0]!).waiter.credited();
  expect(news()).toEqual([["taken", 1]]);
});

test("answers are sent up together when all ranks have answered, and later answers are ignored", () => {
  const { node, branches, news } = begun();
  node.cast(call(6));
  node.answered(6, 1, answerOf(AnswerKind.value, "x"));
  node.answers(branches[1]!, 6, [groupOf("x", 3, 2)]);
  node.answers(branches[0]!, 6, [groupOf("y", 2, 1, AnswerKind.error)]);
  expect(news()).toEqual([]);
  node.answered(6, 0, answerOf(AnswerKind.value, "x"));
  expect(news()).toEqual([["answers", 6, ["0+2 3+2 0: x", "2+1 1: y"]]]);
  // The cast is finished, so answers that arrive now are ignored.
  node.answered(6, 0, answerOf(AnswerKind.failure, "x"));
  node.answers(branches[0]!, 6, [groupOf("y", 2, 1, AnswerKind.failure)]);
  expect(news()).toEqual([]);
});

test("a failure is sent up at once with the answers so far, and the other ranks are still awaited", () => {
  const { node, branches, news } = begun();
  node.cast(call(6));
  node.answered(6, 0, answerOf(AnswerKind.value, "x"));
  node.answered(6, 1, answerOf(AnswerKind.failure, "no"));
  expect(news()).toEqual([["answers", 6, ["0+1 0: x", "1+1 2: no"]]]);
  node.answers(branches[1]!, 6, [groupOf("gone", 3, 1, AnswerKind.failure), groupOf("x", 4)]);
  expect(news()).toEqual([["answers", 6, ["3+1 2: gone", "4+1 0: x"]]]);
  node.answers(branches[0]!, 6, [groupOf("x", 2)]);
  expect(news()).toEqual([["answers", 6, ["2+1 0: x"]]]);
});

test("answers are sent up as soon as they have one megabyte", () => {
  const { node, news } = begun();
  node.cast(call(6));
  node.answered(6, 0, answerOf(AnswerKind.value, "x".repeat(1024 * 1024 - 1)));
  expect(news()).toEqual([]);
  node.answered(6, 1, answerOf(AnswerKind.value, "y"));
  expect(news()).toEqual([["answers", 6, ["0+1 0: 1048575 bytes", "1+1 0: y"]]]);
});

test("the answers of a call with a reduction are folded before they are sent up", () => {
  const fold: AnswerFold = (groups) => [groupOf(groups.map(({ bytes }) => bytes).join("+"), 0, 5, AnswerKind.folded)];
  const { node, news, branches } = begun({ fold });
  node.cast(call(6, { reduction: "sum" }, { endpoint: 1 }));
  expect(news()).toEqual([["foldFor", 1, "sum"]]);
  for (const rank of [0, 1]) node.answered(6, rank, answerOf(AnswerKind.value, `${rank}`));
  node.answers(branches[0]!, 6, [groupOf("2", 2)]);
  node.answers(branches[1]!, 6, [groupOf("3", 3, 2, AnswerKind.folded)]);
  expect(news()).toEqual([["answers", 6, ["0+5 3: 0+1+2+3"]]]);
  node.cast(call(7));
  expect(news()).toEqual([]);
});

test("a cast that arrives again counts as taken, and its answer is sent again when it is known", () => {
  const { node, end, news, branches } = begun({ repeated: [100, 101] });
  const other = { lineage: 5, answered: () => {}, answerOfError: () => answerOf(AnswerKind.error, "") };
  const [known, working] = [end.createReply(other, 6, 0), end.createReply(other, 6, 1)];
  known.answer = answerOf(AnswerKind.value, "known");
  node.cast(call(6));
  for (const branch of branches) node.taken(branch, 1);
  expect(news()).toEqual([["taken", 1]]);
  // A handler that is still running answers through the new part.
  expect([known.route, working.route]).toEqual([node, node]);
  working.failed(new Error("later"));
  node.answers(branches[0]!, 6, [groupOf("x", 2)]);
  node.answers(branches[1]!, 6, [groupOf("x", 3, 2)]);
  expect(news()).toEqual([
    ["answers", 6, ["0+1 0: known", "1+1 2: later"]],
    ["answers", 6, ["2+3 0: x"]],
  ]);
});

test("a request for an answer that is no longer known gets a failure, unless the cast expects no answer", () => {
  const { node, news, arrived } = begun();
  node.cast(call(6, {}, { flags: CastFlag.call | CastFlag.recall }));
  const why = "2: closed: its answer was lost on the way, and is not known any more";
  expect(arrived).toEqual([]);
  expect(news()).toEqual([
    ["answers", 6, [`0+1 ${why}`]],
    ["answers", 6, [`1+1 ${why}`]],
  ]);
  node.cast(call(7, {}, { flags: CastFlag.recall }));
  expect([news(), arrived]).toEqual([[], []]);
});

test("replies of finished casts are freed, and answers to finished casts are no longer collected", () => {
  const { node, end, news, arrived } = begun();
  for (const seq of [5, 6, 7, 8]) node.cast(call(seq));
  for (const one of arrived) posted(one);
  expect(end.pendingCasts).toEqual([5, 6, 7, 8]);
  node.cast(call(9, { finished: [{ start: 6, count: 2 }] }));
  expect(end.pendingCasts).toEqual([5, 8]);
  for (const seq of [5, 6, 7, 8]) node.answered(seq, 0, answerOf(AnswerKind.failure, "x"));
  expect(news().map(([, seq]) => seq)).toEqual([5, 8]);
});

test("a cancelled cast is cancelled on all branches and at the actors here", () => {
  const { node, end, sent, news } = begun();
  node.cast(call(6));
  const reply = end.createReply(node, 6, 0);
  sent();
  node.cancel(6, 3);
  expect(headers(sent())).toEqual([
    [2n, [[FrameKind.castCancel, 0, 3, 1, 6]]],
    [3n, [[FrameKind.castCancel, 0, 3, 2, 6]]],
  ]);
  expect([news(), end.pendingCasts]).toEqual([
    [
      ["cancelled", 100, 6],
      ["cancelled", 101, 6],
    ],
    [],
  ]);
  node.answered(6, 0, answerOf(AnswerKind.failure, "x"));
  expect([news(), reply.id]).toEqual([[], 0]);
});

test("a release from direct messages is forwarded to all branches, and applied if the actor is here", () => {
  const { node, sent, news } = begun();
  node.release(101, 8);
  expect(headers(sent())).toEqual([
    [2n, [[FrameKind.castRelease, 0, 0, 1, 101]]],
    [3n, [[FrameKind.castRelease, 0, 0, 2, 101]]],
  ]);
  expect(news()).toEqual([["released", 101, 8]]);
  node.release(104, 8);
  expect(news()).toEqual([]);
});

test("a flush is forwarded to all branches, and the casts taken here are reported at once", () => {
  const { node, sent, news, branches } = begun({ setup: { window: { casts: 100, bytes: 4000 } } });
  node.cast(call(6, {}, { flags: CastFlag.recall }));
  for (const branch of branches) branch.takenCasts = 9;
  sent();
  node.flush();
  expect(headers(sent())).toEqual([
    [2n, [[FrameKind.treeFlush, 0, 0, 1, FlushMode.tell]]],
    [3n, [[FrameKind.treeFlush, 0, 0, 2, FlushMode.tell]]],
  ]);
  expect(news()).toEqual([["taken", 1]]);
});

test("a proc below is reported as lost when its link ends or when the proc is known to be dead", () => {
  const { node, links, news } = begun();
  const why = new DeliveryError("peer-down", "it has ended");
  node.linkEnded(links.get(3n)!.link, why);
  node.linkEnded(recordedLink(8n).link, why);
  expect(news()).toEqual([["lost", 3n, why]]);
  // Proc 4 is below another proc.
  node.peerDown(4n, why);
  node.peerDown(1n, why);
  expect(news()).toEqual([["lost", 4n, why]]);
});

test("a dropped part frees its branches, tells them if requested, and sends nothing more", () => {
  for (const [tell, frames] of [
    [undefined, []],
    [
      FlushMode.end,
      [
        [2n, [[FrameKind.treeFlush, 0, 0, 1, FlushMode.end]]],
        [3n, [[FrameKind.treeFlush, 0, 0, 2, FlushMode.end]]],
      ],
    ],
  ] as const) {
    const { node, sent, news, made, links, branches } = begun();
    node.cast(call(6));
    sent();
    node.drop(tell);
    node.drop(tell);
    expect(headers(sent())).toEqual(frames);
    expect(news()).toEqual([
      ["forgotten", 1],
      ["forgotten", 2],
    ]);
    const why = new DeliveryError("peer-down", "it has ended");
    node.answered(6, 0, answerOf(AnswerKind.failure, "x"));
    node.answers(branches[0]!, 6, [groupOf("x", 2, 1, AnswerKind.failure)]);
    node.linkEnded(links.get(3n)!.link, why);
    node.bounced("B.one", why);
    made.get(100)!.onBounce!("B.one", why);
    node.cast(call(7));
    node.answered(7, 0, answerOf(AnswerKind.failure, "x"));
    expect(news()).toEqual([]);
  }
});
