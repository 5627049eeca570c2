/**
 * The dimensions of a mesh are types: what is right compiles, what is wrong does not. Checked by the type checker alone;
 * nothing here runs.
 */
import {
  type Extent,
  type Point,
  type Range,
  type Region,
  range,
  type Sliced,
  type Split,
  sliceRegion,
  ValueMesh,
} from "../../runtime/shape/index.js";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_proof: Same<A, B>): void {}

declare const grid: ValueMesh<number, "hosts" | "gpus">;
declare const line: ValueMesh<number, "gpus">;
declare const single: ValueMesh<number, never>;
declare const untyped: ValueMesh<number>;
declare const index: number;
declare const either: number | Range;

/** Slices. */
export function slices(): void {
  const host = grid.slice({ hosts: 0 });
  same<typeof host, ValueMesh<number, "gpus">>(true);
  const computed = grid.slice({ hosts: index });
  same<typeof computed, ValueMesh<number, "gpus">>(true);
  const part = grid.slice({ gpus: range(0, 2) });
  same<typeof part, ValueMesh<number, "hosts" | "gpus">>(true);
  const both = grid.slice({ hosts: 1, gpus: range(0, 2) });
  same<typeof both, ValueMesh<number, "gpus">>(true);
  const one = grid.slice({ hosts: 1, gpus: 1 });
  same<typeof one, ValueMesh<number, never>>(true);
  const all = grid.slice({});
  same<typeof all, ValueMesh<number, "hosts" | "gpus">>(true);
  const unsure = grid.slice({ gpus: either });
  same<typeof unsure, ValueMesh<number, "hosts" | "gpus">>(true);
  const any = untyped.slice({ whatever: 0 });
  same<typeof any, ValueMesh<number, string>>(true);

  // @ts-expect-error no such dimension
  grid.slice({ gpu: 0 });
  const made = { gpu: 0 };
  // @ts-expect-error no such dimension, in a value made elsewhere
  grid.slice(made);
  const mixed = { gpus: 0, host: 0 };
  // @ts-expect-error one of them is no dimension, in a value made elsewhere
  grid.slice(mixed);
  // @ts-expect-error one of them is no dimension
  grid.slice({ gpus: 0, host: 0 });
  // @ts-expect-error it is gone after the first slice
  grid.slice({ hosts: 0 }).slice({ hosts: 0 });
  // @ts-expect-error neither an index nor a range
  grid.slice({ gpus: "0" });
  // @ts-expect-error nothing left to slice
  single.slice({ gpus: 0 });
}

/** Points. */
export function pointsAndPlaces(point: Point<"gpus">, other: Point<"hosts">, unknown: Point): void {
  const one = line.slice(point);
  same<typeof one, ValueMesh<number, never>>(true);
  line.slice(unknown);
  untyped.slice(point);
  line.at(point);
  line.at(unknown);
  line.at({ gpus: 0 });
  grid.at({ hosts: 0, gpus: 0 });
  single.at({});
  untyped.at({ anything: 0 });
  same<typeof point.coordinates.gpus, number>(true);

  // @ts-expect-error a point of other dimensions
  line.slice(other);
  // @ts-expect-error a point of fewer dimensions
  grid.at(point);
  // @ts-expect-error a coordinate is missing
  grid.at({ gpus: 0 });
  // @ts-expect-error one too many
  line.at({ gpus: 0, hosts: 0 });
  // @ts-expect-error a range is no coordinate
  line.at({ gpus: range(0, 1) });
  // @ts-expect-error no such coordinate
  point.coordinates.hosts;
}

/** Split, rename, flatten. */
export function reshaped(): void {
  const grids = line.split({ gpus: ["dp", "tp"] }, { tp: 2 });
  same<typeof grids, ValueMesh<number, "dp" | "tp">>(true);
  const deep = grid.split({ gpus: ["dp", "tp"] }, { dp: 2 }).slice({ tp: 0 });
  same<typeof deep, ValueMesh<number, "hosts" | "dp">>(true);
  const named = grid.rename({ gpus: "tp" });
  same<typeof named, ValueMesh<number, "hosts" | "tp">>(true);
  const swapped = grid.rename({ gpus: "hosts", hosts: "gpus" });
  same<typeof swapped, ValueMesh<number, "hosts" | "gpus">>(true);
  const flat = grid.flatten("rank");
  same<typeof flat, ValueMesh<number, "rank">>(true);
  same<typeof flat.extent, Extent<"rank">>(true);
  const stillUntyped = untyped.split({ x: ["a", "b"] }, { a: 1 });
  same<typeof stillUntyped, ValueMesh<number, string>>(true);

  // @ts-expect-error no such dimension
  line.split({ gpu: ["a", "b"] }, { a: 1 });
  // @ts-expect-error not one of the new dimensions
  line.split({ gpus: ["a", "b"] }, { c: 1 });
  // @ts-expect-error no such dimension
  line.rename({ gpu: "tp" });
  // @ts-expect-error the old name is gone
  line.rename({ gpus: "tp" }).slice({ gpus: 0 });
}

/** Where dimensions are known at run time alone, any mesh will do; never the other way round. */
export function widened(region: Region<"gpus">): void {
  const mesh: ValueMesh<number> = grid;
  const scalar: ValueMesh<number> = single;
  const plain: Region = region;
  const values: ValueMesh<unknown, "gpus"> = line;
  // @ts-expect-error dimensions unknown
  const narrow: ValueMesh<number, "gpus"> = mesh;
  // @ts-expect-error one dimension too many
  const fewer: ValueMesh<number, "gpus"> = grid;
  // @ts-expect-error one dimension too few
  const more: ValueMesh<number, "hosts" | "gpus"> = line;
  // @ts-expect-error other values
  const texts: ValueMesh<string, "gpus"> = line;
  void [scalar, plain, values, narrow, fewer, more, texts];
}

/** The type functions by themselves. */
export function typeFunctions(region: Region<"hosts" | "gpus">): void {
  same<Sliced<"hosts" | "gpus", { hosts: number }>, "gpus">(true);
  same<Sliced<string, { hosts: 0 }>, string>(true);
  same<Split<"hosts" | "gpus", { gpus: readonly ["dp", "tp"] }>, "hosts" | "dp" | "tp">(true);
  const sliced = sliceRegion(region, { hosts: 0 });
  same<typeof sliced, Region<"gpus">>(true);
  const made = ValueMesh.of({ a: 1, b: 2 }, [1, 2]);
  same<typeof made, ValueMesh<number, "a" | "b">>(true);
  for (const [point, value] of made) {
    same<typeof point, Point<"a" | "b">>(true);
    same<typeof value, number>(true);
  }
}
