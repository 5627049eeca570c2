/**
 * Collects the answers of a cast on their way up the tree. Equal answers are stored once, as bytes; only the root
 * decodes them.
 */
import { readU32, writeU32 } from "../../link/frame/control-body.js";
import { copyBytes, ProtocolError } from "../../link/frame/frame.js";
import type { Reader } from "../../wire/reader.js";
import type { Writer } from "../../wire/writer.js";
import { appendRun, mergeRuns, type RankRun, readList, readRuns, writeRuns } from "./rank-runs.js";

/** The kinds of answers. The numbers are those of the protocol. */
export const AnswerKind = {
  value: 0,
  /** The error that the handler has thrown. */
  error: 1,
  /** There is no answer and there will be none. This is passed up at once. */
  failure: 2,
  /** The combined value of a run of ranks. */
  folded: 3,
} as const;

export interface RankAnswer {
  /** One of `AnswerKind`. */
  readonly kind: number;
  /** True for the protobuf layout, false for the lockstep layout. */
  readonly isProtobuf: boolean;
  readonly bytes: Uint8Array;
  readonly blocks: readonly Uint8Array[];
}

/** An answer that several ranks have given. */
export interface AnswerGroup extends RankAnswer {
  readonly ranks: readonly RankRun[];
}

interface GrowingGroup extends RankAnswer {
  ranks: RankRun[];
}

/** The number of distinct answers with which a new answer is compared. */
const MAX_COMPARED = 16;
/** The largest size of an answer that is compared. Comparing longer answers would cost more than equal ones save. */
const MAX_COMPARED_BYTES = 64 * 1024;

export class AnswerCollector {
  #groups: GrowingGroup[] = [];
  #lastEqual: GrowingGroup | undefined;
  /** The number of bytes of the distinct answers. */
  bytes = 0;

  add(answer: RankAnswer, ranks: readonly RankRun[]): void {
    const known = this.#findEqual(answer);
    if (known !== undefined) {
      for (const run of ranks) appendRun(known.ranks, run);
      return;
    }
    const { kind, isProtobuf, bytes, blocks } = answer;
    this.#groups.push({ kind, isProtobuf, bytes, blocks, ranks: [...ranks] });
    this.bytes += bytes.length + blocks.reduce((sum, block) => sum + block.length, 0);
  }

  /** Removes and returns all answers. */
  takeAll(): AnswerGroup[] {
    const groups = this.#groups.map((group) => ({ ...group, ranks: mergeRuns(group.ranks) }));
    this.#groups = [];
    this.#lastEqual = undefined;
    this.bytes = 0;
    return groups;
  }

  #findEqual(answer: RankAnswer): GrowingGroup | undefined {
    if (answer.kind === AnswerKind.folded) return undefined;
    if (answer.blocks.length > 0 || answer.bytes.length > MAX_COMPARED_BYTES) return undefined;
    if (this.#lastEqual !== undefined && isSameAnswer(this.#lastEqual, answer)) return this.#lastEqual;
    const from = Math.max(0, this.#groups.length - MAX_COMPARED);
    for (let i = this.#groups.length - 1; i >= from; i--) {
      const group = this.#groups[i]!;
      if (!isSameAnswer(group, answer)) continue;
      this.#lastEqual = group;
      return group;
    }
    return undefined;
  }
}

function isSameAnswer(a: RankAnswer, b: RankAnswer): boolean {
  return (
    a.kind === b.kind &&
    a.isProtobuf === b.isProtobuf &&
    a.blocks.length === 0 &&
    Buffer.compare(a.bytes, b.bytes) === 0
  );
}

/** Copies the answer at which `r` is positioned. */
export function copyAnswer(r: Reader): RankAnswer {
  const bytes = Buffer.from(copyBytes(r.bytes, r.position, r.end).buffer);
  return { kind: AnswerKind.value, isProtobuf: r.protobuf, bytes, blocks: r.blocks ?? [] };
}

/** Writes answers. Their blocks are appended to the blocks of the writer, in order. */
export function writeAnswers(w: Writer, groups: readonly AnswerGroup[]): void {
  writeU32(w, groups.length);
  for (const { kind, isProtobuf, ranks, bytes, blocks } of groups) {
    writeU32(w, kind);
    writeU32(w, isProtobuf ? 1 : 0);
    writeRuns(w, ranks);
    writeU32(w, blocks.length);
    writeU32(w, bytes.length);
    const at = w.reserve(bytes.length);
    w.bytes.set(bytes, at);
    w.blocks.push(...blocks);
  }
}

/**
 * Reads answers.
 * @param all the blocks of the frame
 * @throws ProtocolError if the blocks do not match the groups
 */
export function readAnswers(r: Reader, all: readonly Uint8Array[]): AnswerGroup[] {
  let used = 0;
  const groups = readList(r, 20, () => {
    const kind = readU32(r);
    if (kind > AnswerKind.folded) throw new ProtocolError(`unknown kind of answer ${kind}`);
    const isProtobuf = readU32(r) === 1;
    const ranks = readRuns(r);
    const first = used;
    used += readU32(r);
    const blocks = all.slice(first, used);
    const length = readU32(r);
    const at = r.take(length);
    const bytes = Buffer.from(copyBytes(r.bytes, at, at + length).buffer);
    return { kind, isProtobuf, ranks, bytes, blocks };
  });
  if (used !== all.length) throw new ProtocolError(`${all.length} blocks came with answers that have ${used}`);
  return groups;
}
