/**
 * The naive model of a region: a list of its ranks, each with its coordinates and its base rank. What the real thing
 * computes with strides is looked up and filtered here.
 */
import * as fc from "fast-check";
import { type Region, range, type SliceSpec } from "../../runtime/shape/index.js";

export interface Cell {
  readonly index: Record<string, number>;
  readonly base: number;
}

export interface Naive {
  readonly sizes: readonly (readonly [string, number])[];
  readonly cells: readonly Cell[];
}

export function naive(sizes: readonly (readonly [string, number])[]): Naive {
  let indices: Record<string, number>[] = [{}];
  for (const [name, size] of sizes) {
    indices = indices.flatMap((index) => Array.from({ length: size }, (_, i) => ({ ...index, [name]: i })));
  }
  return { sizes, cells: indices.map((index, base) => ({ index, base })) };
}

export type Part = number | { readonly start: number; readonly stop: number; readonly step: number };

export function naiveSlice({ sizes, cells }: Naive, spec: Readonly<Record<string, Part>>): Naive {
  const kept: [string, number][] = [];
  let rest = cells;
  for (const [name, size] of sizes) {
    const part = Object.hasOwn(spec, name) ? spec[name] : undefined;
    if (part === undefined) kept.push([name, size]);
    else if (typeof part === "number") rest = rest.filter((cell) => cell.index[name] === part);
    else {
      const chosen = Array.from({ length: size }, (_, i) => i).filter(
        (i) => i >= part.start && i < part.stop && (i - part.start) % part.step === 0,
      );
      kept.push([name, chosen.length]);
      rest = rest
        .filter((cell) => chosen.includes(cell.index[name]!))
        .map((cell) => ({ ...cell, index: { ...cell.index, [name]: chosen.indexOf(cell.index[name]!) } }));
    }
  }
  return { sizes: kept, cells: rest.map((cell) => ({ ...cell, index: pick(cell.index, kept) })) };
}

function pick(index: Record<string, number>, sizes: readonly (readonly [string, number])[]): Record<string, number> {
  return Object.fromEntries(sizes.map(([name]) => [name, index[name]!]));
}

/** Splits `name` into `outer` and `inner`, the latter of size `innerSize`. */
export function naiveSplit(
  { sizes, cells }: Naive,
  name: string,
  outer: string,
  inner: string,
  innerSize: number,
): Naive {
  return {
    sizes: sizes.flatMap(([each, size]): [string, number][] =>
      each === name
        ? [
            [outer, size / innerSize],
            [inner, innerSize],
          ]
        : [[each, size]],
    ),
    cells: cells.map(({ index, base }) => {
      const entries = Object.entries(index).flatMap(([each, i]): [string, number][] =>
        each === name
          ? [
              [outer, Math.floor(i / innerSize)],
              [inner, i % innerSize],
            ]
          : [[each, i]],
      );
      return { index: Object.fromEntries(entries), base };
    }),
  };
}

export function naiveRename({ sizes, cells }: Naive, names: Readonly<Record<string, string>>): Naive {
  const renamed = (name: string) => (Object.hasOwn(names, name) ? names[name]! : name);
  return {
    sizes: sizes.map(([name, size]) => [renamed(name), size]),
    cells: cells.map(({ index, base }) => ({
      index: Object.fromEntries(Object.entries(index).map(([name, i]) => [renamed(name), i])),
      base,
    })),
  };
}

/** The spec that the real thing takes for a naive one. */
export function realSpec(spec: Readonly<Record<string, Part>>): SliceSpec {
  return Object.fromEntries(
    Object.entries(spec).map(([name, part]) => [
      name,
      typeof part === "number" ? part : range(part.start, part.stop, part.step),
    ]),
  );
}

/** Extents with up to four dimensions; the names are awkward ones on purpose. */
export const someSizes: fc.Arbitrary<[string, number][]> = fc
  .uniqueArray(fc.constantFrom("hosts", "gpus", "constructor", "_0", "__proto__x", "length"), { maxLength: 4 })
  .chain((names) => fc.tuple(...names.map((name) => fc.tuple(fc.constant(name), fc.integer({ min: 1, max: 6 })))));

/** A slice of a region: any part of any of its dimensions. */
export function someSlice(region: Region): fc.Arbitrary<Record<string, Part>> {
  const parts = region.labels.map((label, i) =>
    region.sizes[i] === 0
      ? fc.constant([label, undefined] as const)
      : fc.tuple(fc.constant(label), fc.option(somePart(region.sizes[i]!), { nil: undefined })),
  );
  return fc
    .tuple(...parts)
    .map((entries) => Object.fromEntries(entries.filter((entry): entry is [string, Part] => entry[1] !== undefined)));
}

function somePart(size: number): fc.Arbitrary<Part> {
  return fc.oneof(
    fc.integer({ min: 0, max: size - 1 }),
    fc
      .record({
        start: fc.integer({ min: 0, max: size - 1 }),
        length: fc.integer({ min: 1, max: size }),
        step: fc.integer({ min: 1, max: size + 1 }),
      })
      .map(({ start, length, step }) => ({ start, stop: Math.min(size, start + length), step })),
  );
}
