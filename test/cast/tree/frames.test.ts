/** Tests of the frames between the parts of a tree: down from a branch, and up to a parent. */
import { expect, test } from "vitest";
import { type AnswerGroup, AnswerKind, readAnswers } from "../../../runtime/cast/tree/answers.js";
import { Branch, FlushMode } from "../../../runtime/cast/tree/branch.js";
import { readRuns } from "../../../runtime/cast/tree/rank-runs.js";
import { RemoteParent } from "../../../runtime/cast/tree/remote-parent.js";
import type { TreeNode } from "../../../runtime/cast/tree/tree-node.js";
import type { TreeHost } from "../../../runtime/cast/tree/tree-node-types.js";
import { readSetup, type TreeSetup } from "../../../runtime/cast/tree/tree-setup.js";
import { DeliveryError, deliveryReasons } from "../../../runtime/link/errors.js";
import { readText, readU32, readU64 } from "../../../runtime/link/frame/control-body.js";
import { FrameKind } from "../../../runtime/link/frame/frame.js";
import { headerOf, recordedLink } from "../recorded-link.js";

const procs = [
  { proc: 3n, location: "three", ranks: [{ viewRank: 1, meshRank: 1 }] },
  { proc: 4n, location: "four", ranks: [{ viewRank: 2, meshRank: 2 }] },
];
const setup: TreeSetup = {
  root: 1n,
  location: "one",
  tree: 6,
  lineage: 6,
  unfinished: [],
  sender: { universe: 9n, proc: 1n, mesh: 2n, rank: 0, incarnation: 0, name: "sender" },
  mesh: 20n,
  owner: 1n,
  interface: { key: "a#B", name: "B", fingerprint: 7n, endpoints: [{ id: 1, name: "one" }] },
  size: 3,
  extent: undefined,
  window: { casts: 4, bytes: 400 },
  procs,
};

test("a branch sends its setup, and all frames of the branch carry its number", () => {
  const { link, sent } = recordedLink();
  const branch = new Branch({} as TreeNode, procs);
  expect([branch.proc, branch.ranks]).toEqual([3n, [{ start: 1, count: 2 }]]);
  expect([branch.isReady, branch.takenCasts, branch.handle]).toEqual([false, 0, 0]);
  branch.setUp(link, 70, setup);
  const [tree] = sent();
  expect(headerOf(tree!)).toEqual([FrameKind.tree, 0, 0, 70, 0]);
  expect(readSetup(tree!.r, 9n, 3n)).toEqual(setup);
  const blocks = [Uint8Array.of(1), Uint8Array.of(2)];
  branch.cast({ seq: 5, endpoint: 2, flags: 3, body: Uint8Array.of(7, 8, 9), blocks });
  branch.cancel(5, 2);
  branch.release(11, 12);
  branch.flush(FlushMode.end);
  const [cast, cancel, release, flush] = sent();
  expect(headerOf(cast!)).toEqual([FrameKind.cast, 3, 2, 70, 5]);
  expect([...cast!.r.bytes.subarray(cast!.r.position)]).toEqual([7, 8, 9]);
  expect(cast!.blocks).toEqual(blocks);
  expect(headerOf(cancel!)).toEqual([FrameKind.castCancel, 0, 2, 70, 5]);
  expect([headerOf(release!), readU32(release!.r)]).toEqual([[FrameKind.castRelease, 0, 0, 70, 11], 12]);
  expect(headerOf(flush!)).toEqual([FrameKind.treeFlush, 0, 0, 70, FlushMode.end]);
});

test("sending on a branch without a link does nothing and does not throw", () => {
  const branch = new Branch({} as TreeNode, procs);
  expect(() => {
    branch.cast({ seq: 5, endpoint: 2, flags: 3, body: Uint8Array.of(7), blocks: [] });
    branch.cancel(5, 2);
    branch.release(11, 12);
    branch.flush(FlushMode.tell);
  }).not.toThrow();
});

const maxFrame = 64 * 1024 * 1024;

/** @param limit for frames, in bytes */
function parentOf(limit = maxFrame) {
  const { link, sent } = recordedLink();
  const answerOfError = (error: Error) => ({
    kind: AnswerKind.failure,
    protobuf: true,
    bytes: Buffer.from(error.message),
    blocks: [],
  });
  const host = { limits: { maxFrame: limit }, answerOfError } as unknown as TreeHost;
  return { parent: new RemoteParent(host, link, 80), sent };
}

test("all frames to the parent carry the number that the parent has given", () => {
  const { parent, sent } = parentOf();
  const others = [{ schema: { fingerprint: 5n, description: "text" }, ranks: [{ start: 1, count: 2 }] }];
  parent.ready(others);
  parent.taken(17);
  const why = new DeliveryError("refused", "it does not want to");
  parent.lost(4n, why);
  parent.lost(4n, why, true);
  parent.bounced("a.b", why);
  const [ready, taken, lost, orphan, bounce] = sent();
  expect(headerOf(ready!)).toEqual([FrameKind.treeReady, 0, 0, 80, 0]);
  const { r } = ready!;
  expect([readU32(r), readU64(r), readText(r), readRuns(r)]).toEqual([1, 5n, "text", [{ start: 1, count: 2 }]]);
  expect(headerOf(taken!)).toEqual([FrameKind.taken, 0, 0, 80, 17]);
  expect(headerOf(lost!)).toEqual([FrameKind.treeLost, 0, 0, 80, 0]);
  expect([readU64(lost!.r), readText(lost!.r)]).toEqual([4n, "it does not want to"]);
  expect(headerOf(orphan!)).toEqual([FrameKind.treeLost, 0, 0, 80, 1]);
  expect(headerOf(bounce!)).toEqual([FrameKind.castBounce, 0, 0, 80, deliveryReasons.indexOf("refused")]);
  expect([readText(bounce!.r), readText(bounce!.r)]).toEqual(["a.b", "it does not want to"]);
});

const MiB = 1024 * 1024;
const answer = (start: number, size: number, block = 0): AnswerGroup => ({
  kind: AnswerKind.value,
  isProtobuf: false,
  ranks: [{ start, count: 1 }],
  bytes: Buffer.alloc(size),
  blocks: block === 0 ? [] : [new Uint8Array(block)],
});

test("answers are sent in frames of at most 16 MiB, unless a single answer is larger", () => {
  const { parent, sent } = parentOf();
  parent.answers(9, [answer(0, 8 * MiB), answer(1, 4 * MiB, 4 * MiB), answer(2, 1), answer(3, 17 * MiB), answer(4, 0)]);
  const frames = sent();
  expect(frames.map(headerOf)).toEqual(frames.map(() => [FrameKind.answers, 0, 0, 80, 9]));
  const ranks = frames.map(({ r, blocks }) => readAnswers(r, blocks).map((group) => group.ranks[0]!.start));
  expect(ranks).toEqual([[0, 1], [2], [3], [4]]);
  parent.answers(9, [answer(0, 17 * MiB)]);
  expect(sent()).toHaveLength(1);
  parent.answers(9, []);
  expect(sent()).toEqual([]);
});

test("an answer that is too large for a frame is replaced by an error for its ranks", () => {
  const limit = 10_000;
  // This is the header of the frame and the space reserved for the answer's head and its one run of ranks.
  const around = 16 + 1024 + 8;
  const { parent, sent } = parentOf(limit);
  for (const group of [answer(0, limit - around), answer(1, limit - around + 1), answer(2, 5000, 5000 - around + 1)]) {
    parent.answers(9, [group]);
  }
  const answers = sent().flatMap(({ r, blocks }) => readAnswers(r, blocks));
  const why = (size: number) =>
    `cannot send the answer: it has ${size} bytes, more than the limit of 10000 for a frame; send it in parts`;
  expect(answers.map(({ kind, bytes }) => (kind === AnswerKind.value ? bytes.length : `${kind} ${bytes}`))).toEqual([
    limit - around,
    `${AnswerKind.error} ${why(limit - around + 1)}`,
    `${AnswerKind.error} ${why(limit - around + 1)}`,
  ]);
  expect(answers.map(({ ranks }) => ranks[0]!.start)).toEqual([0, 1, 2]);
});
