/**
 * Combines answers inside a cast tree: a proc combines the answers of its actors and of the procs below it, if it knows the
 * reduction and the type of the answers. It passes other answers on unchanged, and the caller combines them.
 */
import { type AnswerGroup, AnswerKind } from "../../cast/tree/answers.js";
import type { AnswerFold } from "../../cast/tree/tree-node-types.js";
import type { CastInterface } from "../../cast/tree/tree-setup.js";
import type { Codec } from "../../wire/codec.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import { Reader } from "../../wire/reader.js";
import { interfaceOf } from "../cell/handler.js";
import { findReduction } from "./reduction.js";

/** The answer of consecutive ranks: the same value for each of them, or one combined value for all. */
interface AnswerPiece {
  readonly start: number;
  readonly count: number;
  readonly group: AnswerGroup;
}

export function createFold(
  descriptor: ActorDescriptor,
  known: CastInterface,
  endpoint: number,
  reduction: string,
): AnswerFold | undefined {
  const own = interfaceOf(descriptor, known.key);
  if (own === undefined || own.fingerprint !== known.fingerprint) return undefined;
  const result = own.endpoints[endpoint]?.result;
  const fold = findReduction(reduction);
  if (result === undefined || fold === undefined || reduction === "count") return undefined;
  return (groups) => foldGroups(groups, result, fold);
}

function foldGroups(
  groups: readonly AnswerGroup[],
  codec: Codec<unknown>,
  fold: (values: readonly unknown[]) => unknown,
): readonly AnswerGroup[] {
  const isFoldable = (group: AnswerGroup) =>
    (group.kind === AnswerKind.value || group.kind === AnswerKind.folded) && !group.isProtobuf;
  const pieces = groups
    .filter(isFoldable)
    .flatMap((group) => group.ranks.map(({ start, count }): AnswerPiece => ({ start, count, group })))
    .sort((a, b) => a.start - b.start);
  try {
    const values = new Map<AnswerGroup, unknown>();
    const folded = groupNeighbours(pieces).map((row): AnswerGroup => {
      const value = fold(row.flatMap((piece) => valuesOf(piece, codec, values)));
      const start = row[0]!.start;
      const last = row.at(-1)!;
      const ranks = [{ start, count: last.start + last.count - start }];
      const encoded = codec.encode(value);
      const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.length);
      return { kind: AnswerKind.folded, isProtobuf: false, bytes, blocks: [], ranks };
    });
    return [...groups.filter((group) => !isFoldable(group)), ...folded];
  } catch {
    // The reduction rejects the values, or its result is out of range of the type. The caller will get the same error.
    return groups;
  }
}

/** Groups pieces whose ranks follow one another without a gap. */
function groupNeighbours(pieces: readonly AnswerPiece[]): AnswerPiece[][] {
  const rows: AnswerPiece[][] = [];
  let next = -1;
  for (const piece of pieces) {
    if (piece.start === next) rows.at(-1)!.push(piece);
    else rows.push([piece]);
    next = piece.start + piece.count;
  }
  return rows;
}

function valuesOf({ group, count }: AnswerPiece, codec: Codec<unknown>, decoded: Map<AnswerGroup, unknown>): unknown[] {
  if (!decoded.has(group)) decoded.set(group, decode(group, codec));
  const value = decoded.get(group);
  return group.kind === AnswerKind.folded ? [value] : new Array(count).fill(value);
}

function decode({ bytes, blocks }: AnswerGroup, codec: Codec<unknown>): unknown {
  const r = new Reader();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  r.reset(bytes, view, 0, bytes.length, blocks.length === 0 ? undefined : blocks);
  return codec.decodeFrom(r);
}
