/** Tests that the frames of trees are read as they were written, and that malformed frames are refused. */
import { expect, test } from "vitest";
import {
  type AnswerGroup,
  AnswerKind,
  copyAnswer,
  readAnswers,
  writeAnswers,
} from "../../../runtime/cast/tree/answers.js";
import {
  type CastHead,
  CastOrdering,
  comesBefore,
  orderPositionOf,
  readCast,
  writeCast,
} from "../../../runtime/cast/tree/cast-frame.js";
import {
  appendRun,
  countRanks,
  isWithin,
  mergeRuns,
  ranksOf,
  readRuns,
  writeRuns,
} from "../../../runtime/cast/tree/rank-runs.js";
import {
  ranksOfProcs,
  readSetup,
  splitEvenly,
  type TreeSetup,
  writeSetup,
} from "../../../runtime/cast/tree/tree-setup.js";
import { readBody, readText, readU32, writeU32 } from "../../../runtime/link/frame/control-body.js";
import { ProtocolError } from "../../../runtime/link/frame/frame.js";
import { TraceContext } from "../../../runtime/link/trace-context.js";
import { Reader } from "../../../runtime/wire/reader.js";
import { Writer } from "../../../runtime/wire/writer.js";

function bytesOf(write: (w: Writer) => void): Uint8Array {
  const w = new Writer(256);
  write(w);
  return w.copy(0);
}

function readerOf(bytes: Uint8Array, blocks?: readonly Uint8Array[]): Reader {
  const r = new Reader();
  r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length, blocks);
  return r;
}

/** Reads all of `bytes`, and expects every beginning of it to be refused. */
function whole<T>(bytes: Uint8Array, read: (r: Reader) => T): T {
  for (let length = 0; length < bytes.length; length++) {
    expect(() => readBody(readerOf(bytes.subarray(0, length)), "it", read)).toThrow(ProtocolError);
  }
  return readBody(readerOf(bytes), "it", read);
}

const runs = [
  { start: 0, count: 3 },
  { start: 7, count: 1 },
];

const groups: readonly AnswerGroup[] = [
  { kind: AnswerKind.value, isProtobuf: false, ranks: runs, bytes: Buffer.from("an answer"), blocks: [] },
  {
    kind: AnswerKind.error,
    isProtobuf: true,
    ranks: [{ start: 3, count: 1 }],
    bytes: Buffer.from("an error"),
    blocks: [Uint8Array.of(1), Uint8Array.of(2, 3)],
  },
  {
    kind: AnswerKind.folded,
    isProtobuf: false,
    ranks: [{ start: 4, count: 2 }],
    bytes: Buffer.alloc(0),
    blocks: [Uint8Array.of(4)],
  },
];

const setup: TreeSetup = {
  root: 0x1234_5678_9abc_def0n,
  location: "tcp://root",
  tree: 8,
  lineage: 5,
  unfinished: [3, 4],
  sender: { universe: 9n, proc: 1n, mesh: 2n, rank: 3, incarnation: 4, name: "sender" },
  mesh: 20n,
  owner: 21n,
  interface: {
    key: "a#B",
    name: "B",
    fingerprint: 0x77n,
    endpoints: [
      { id: 1, name: "one" },
      { id: 9, name: "two" },
    ],
  },
  size: 3,
  extent: { hosts: 1, gpus: 3 },
  window: { casts: 10, bytes: 1000 },
  procs: [
    {
      proc: 30n,
      location: "",
      ranks: [
        { viewRank: 0, meshRank: 5 },
        { viewRank: 2, meshRank: 7 },
      ],
    },
    { proc: 31n, location: "tcp://other", ranks: [{ viewRank: 1, meshRank: 6 }] },
  ],
};

test("runs, answers and setups are read as they were written, and refused if they are cut off anywhere", () => {
  expect(
    whole(
      bytesOf((w) => writeRuns(w, runs)),
      readRuns,
    ),
  ).toEqual(runs);
  const w = new Writer(256);
  writeAnswers(w, groups);
  const blocks = w.blocks.slice();
  w.blocks.length = 0;
  expect(blocks).toEqual([Uint8Array.of(1), Uint8Array.of(2, 3), Uint8Array.of(4)]);
  expect(whole(w.copy(0), (r) => readAnswers(r, blocks))).toEqual(groups);
  expect(
    whole(
      bytesOf((to) => writeSetup(to, setup)),
      (r) => readSetup(r, 9n, 30n),
    ),
  ).toEqual(setup);
  const mesh = { ...setup, extent: undefined };
  expect(
    whole(
      bytesOf((to) => writeSetup(to, mesh)),
      (r) => readSetup(r, 9n, 30n),
    ),
  ).toEqual(mesh);
});

test("an answer that was read does not change when the memory that it was read from is overwritten", () => {
  const bytes = bytesOf((w) => writeAnswers(w, groups.slice(0, 1)));
  const [answer] = readAnswers(readerOf(bytes), []);
  const kept = copyAnswer(readerOf(Uint8Array.of(1, 2, 3)));
  const own = Uint8Array.of(4, 5);
  const [r, protobuf] = [readerOf(own, [Uint8Array.of(6)]), readerOf(own)];
  protobuf.protobuf = true;
  const taken = copyAnswer(r);
  bytes.fill(0);
  own.fill(0);
  expect(String(answer!.bytes)).toBe("an answer");
  expect(kept).toEqual({ kind: AnswerKind.value, isProtobuf: false, bytes: Buffer.of(1, 2, 3), blocks: [] });
  expect([taken.bytes, taken.blocks]).toEqual([Buffer.of(4, 5), [Uint8Array.of(6)]]);
  expect(copyAnswer(protobuf).isProtobuf).toBe(true);
});

/** The bodies are complete, but no valid peer writes them. */
test.each<readonly [string, readonly number[], (r: Reader) => unknown]>([
  ["cannot read it: 2 entries do not fit", [2, 5, 1], readRuns],
  ["cannot read it: 1 entries do not fit", [1], readRuns],
  ["cannot read it: a run of no ranks", [1, 5, 0], readRuns],
  ["cannot read it: unknown kind of answer 4", [1, 4, 0, 0, 0, 0], (r) => readAnswers(r, [])],
  [
    "cannot read it: 1 blocks came with answers that have 0",
    [1, 3, 0, 0, 0, 0],
    (r) => readAnswers(r, [new Uint8Array(1)]),
  ],
  ["cannot read it: 0 blocks came with answers that have 2", [1, 0, 0, 0, 2, 0], (r) => readAnswers(r, [])],
])("%s", (why, words, read) => {
  const bytes = bytesOf((w) => {
    for (const word of words) writeU32(w, word);
  });
  expect(() => readBody(readerOf(bytes), "it", read)).toThrow(new ProtocolError(why));
});

test("a proc refuses a setup that does not begin with that proc", () => {
  const refused = new ProtocolError("cannot read tree: the tree begins with another process");
  for (const [procs, self] of [
    [setup.procs, 31n],
    [[], 30n],
  ] as const) {
    const bytes = bytesOf((w) => writeSetup(w, { ...setup, procs }));
    expect(() => readBody(readerOf(bytes), "tree", (r) => readSetup(r, 9n, self))).toThrow(refused);
  }
});

const head: CastHead = {
  extension: { timeout: 30, trace: new TraceContext(1, 2, 3, 4, 5, 6, 1), chain: [7, 8] },
  finished: runs,
  reduction: "sum",
  positions: [
    { count: 2, index: 4, ordering: CastOrdering.plain },
    { count: 1, index: 4, ordering: CastOrdering.none },
    { count: 2, index: 9, ordering: CastOrdering.marked },
  ],
};
const message = Uint8Array.of(1, 2, 3, 4);

test("a cast is read as it was written, and all bytes after its head are the message", () => {
  for (const one of [head, { extension: undefined, finished: [], reduction: "", positions: head.positions }]) {
    const body = bytesOf((w) => writeCast(w, one, message));
    expect(readCast(body, 5)).toEqual({ ...one, message });
    const length = body.length - message.length;
    for (let end = 0; end < length; end++)
      expect(() => readCast(body.subarray(0, end), 5)).toThrow(/^cannot read cast: /);
  }
});

test("the error for a cast that cannot be read has the reason and the cause", () => {
  const caught = (body: Uint8Array, size: number): Error => {
    try {
      readCast(body, size);
    } catch (error) {
      return error as Error;
    }
    throw new Error("it was read");
  };
  const empty = bytesOf((w) => {
    for (const word of [0, 1, 5, 0]) writeU32(w, word);
  });
  const early = caught(new Uint8Array(2), 1);
  expect(early).toBeInstanceOf(ProtocolError);
  expect(early.message).toBe("cannot read cast: the message ends too early");
  expect(early.cause).toBeInstanceOf(Error);
  expect(caught(empty, 1).message).toBe("cannot read cast: a run of no ranks");
  const other = caught(
    bytesOf((w) => writeCast(w, head, message)),
    6,
  );
  expect(other).toEqual(new ProtocolError("cannot read cast: it has places of 5 ranks, its tree has 6"));
});

test("`orderPositionOf` returns the position of each rank and refuses unknown ranks", () => {
  const ranks = [0, 1, 2, 3, 4].map((rank) => head.positions.indexOf(orderPositionOf(head.positions, rank)));
  expect(ranks).toEqual([0, 0, 1, 2, 2]);
  expect(() => orderPositionOf(head.positions, 5)).toThrow(new RangeError("there is no rank 5"));
});

test("the numbers of casts are compared correctly when they wrap around at 32 bits", () => {
  const pairs = [
    [0, 1],
    [1, 0],
    [1, 1],
    [0xffff_ffff, 0],
    [0, 0xffff_ffff],
    [0xffff_fff0, 5],
  ] as const;
  expect(pairs.map(([a, b]) => comesBefore(a, b))).toEqual([true, false, false, true, false, true]);
});

const run = (start: number, count: number) => ({ start, count });

test("`mergeRuns` returns as few runs as possible with the same ranks, and does not change its argument", () => {
  const cases = [
    [[], []],
    [
      [run(4, 2), run(0, 2)],
      [run(0, 2), run(4, 2)],
    ],
    [[run(2, 1), run(0, 2)], [run(0, 3)]],
    [[run(0, 5), run(1, 2)], [run(0, 5)]],
    [[run(5, 3), run(7, 4)], [run(5, 6)]],
    [
      [run(0, 2), run(3, 1)],
      [run(0, 2), run(3, 1)],
    ],
  ];
  for (const [given, expected] of cases) expect(mergeRuns(given!)).toEqual(expected);
  const given = [run(4, 2), run(0, 2)];
  mergeRuns(given);
  expect(given).toEqual([run(4, 2), run(0, 2)]);
});

test("an appended run is merged with the last run only if it follows that run directly", () => {
  const all = [run(1, 2)];
  for (const [next, expected] of [
    [run(3, 2), [run(1, 4)]],
    [run(6, 1), [run(1, 4), run(6, 1)]],
    [run(5, 1), [run(1, 4), run(6, 1), run(5, 1)]],
    [run(6, 1), [run(1, 4), run(6, 1), run(5, 2)]],
  ] as const) {
    appendRun(all, next);
    expect(all).toEqual(expected);
  }
  const none: { start: number; count: number }[] = [];
  appendRun(none, run(0, 1));
  expect(none).toEqual([run(0, 1)]);
});

test("the ranks of runs are counted and listed, and `isWithin` finds runs that others contain", () => {
  expect(countRanks([run(1, 2), run(9, 3)])).toBe(5);
  expect([...ranksOf([run(1, 2), run(9, 3)])]).toEqual([1, 2, 9, 10, 11]);
  const outer = [run(2, 3), run(8, 2)];
  const inside = [[], [run(2, 3)], [run(3, 1), run(8, 2)]];
  const outside = [[run(1, 1)], [run(4, 2)], [run(5, 1)], [run(2, 3), run(7, 1)], [run(1, 9)]];
  for (const runs of inside) expect(isWithin(runs, outer)).toBe(true);
  for (const runs of outside) expect(isWithin(runs, outer)).toBe(false);
});

test("procs are split in order into parts of about the same size", () => {
  expect(splitEvenly([1, 2, 3, 4, 5, 6, 7], 3)).toEqual([
    [1, 2],
    [3, 4],
    [5, 6, 7],
  ]);
  expect(splitEvenly([1, 2], 3)).toEqual([[1], [2]]);
  expect(splitEvenly([], 3)).toEqual([]);
  expect(ranksOfProcs(setup.procs)).toEqual([run(0, 3)]);
});

test("the body of a cast begins with the extension flag, the finished runs and the reduction", () => {
  const body = bytesOf((w) => writeCast(w, { ...head, extension: undefined, finished: [] }, message));
  const r = readerOf(body);
  expect([readU32(r), readU32(r), readText(r)]).toEqual([0, 0, "sum"]);
});
