import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Extent, type Point, range, sliceRegion, ValueMesh, wholeRegion } from "../../runtime/shape/index.js";
import { cases } from "../profile.js";
import { naive, naiveSlice, realSpec, someSizes, someSlice } from "./naive.js";

test("every way to read values gives the values of the naive model, also in slices", () => {
  const inputs = someSizes.chain((sizes) => {
    const extent: Extent = Object.fromEntries(sizes);
    const whole = naive(sizes);
    return fc.record({
      extent: fc.constant(extent),
      whole: fc.constant(whole),
      values: fc.array(fc.integer({ min: 0, max: 2 }), {
        minLength: whole.cells.length,
        maxLength: whole.cells.length,
      }),
      spec: someSlice(wholeRegion(extent)),
    });
  });
  fc.assert(
    fc.property(inputs, ({ extent, whole, values, spec }) => {
      const mesh = ValueMesh.of(extent, values).slice(realSpec(spec));
      const model = naiveSlice(whole, spec);
      const expected = model.cells.map((cell) => values[cell.base]);
      expect([...mesh.values()]).toEqual(expected);
      expect([...mesh].map(([, value]) => value)).toEqual(expected);
      expect([...mesh.entries()].map(([point]) => point.coordinates)).toEqual(model.cells.map((cell) => cell.index));
      expect(model.cells.map((cell) => mesh.at(cell.index))).toEqual(expected);
      expect([...mesh].map(([point]) => mesh.at(point as Point))).toEqual(expected);
      expect(mesh.size).toBe(expected.length);
      expect(Object.entries(mesh.extent)).toEqual(model.sizes);
    }),
    { numRuns: cases(300) },
  );
});

test("a run is decoded once, when it is first read", () => {
  const decoded: string[] = [];
  const decode = (bytes: string) => {
    decoded.push(bytes);
    return { bytes };
  };
  const mesh = ValueMesh.fromRuns(
    wholeRegion({ hosts: 2, gpus: 3 }),
    [
      { value: "a", length: 4 },
      { value: "b", length: 2 },
    ],
    decode,
  );
  expect(decoded).toEqual([]);
  expect(mesh.at({ hosts: 1, gpus: 2 })).toEqual({ bytes: "b" });
  expect(decoded).toEqual(["b"]);
  expect([...mesh.slice({ gpus: 1 }).values()]).toEqual([{ bytes: "a" }, { bytes: "b" }]);
  expect(mesh.at({ hosts: 0, gpus: 0 })).toBe(mesh.at({ hosts: 1, gpus: 0 }));
  expect(decoded).toEqual(["b", "a"]);
});

test("a run that cannot be decoded throws at each read, and does not affect other runs", () => {
  const mesh = ValueMesh.fromRuns(
    wholeRegion({ gpus: 2 }),
    [
      { value: 1, length: 1 },
      { value: 2, length: 1 },
    ],
    (value) => {
      if (value === 2) throw new Error("broken bytes");
      return value;
    },
  );
  expect(() => [...mesh.values()]).toThrow("broken bytes");
  expect(() => mesh.at({ gpus: 1 })).toThrow("broken bytes");
  expect(mesh.at({ gpus: 0 })).toBe(1);
});

test("a mesh of a million ranks can be made from one run", () => {
  const mesh = ValueMesh.fromRuns(wholeRegion({ gpus: 1_000_000 }), [{ value: 7, length: 1_000_000 }], (v) => v);
  expect(mesh.at({ gpus: 999_999 })).toBe(7);
  expect(mesh.slice({ gpus: range(0, 1_000_000, 999_999) }).size).toBe(2);
  expect(mesh.split({ gpus: ["hosts", "gpus"] }, { gpus: 8 }).at({ hosts: 3, gpus: 1 })).toBe(7);
});

test("a mesh of values has the shape of a slice, independent of the mesh that was sliced", () => {
  const region = sliceRegion(wholeRegion({ hosts: 2, gpus: 4 }), { hosts: 1, gpus: range(1, 4, 2) });
  const mesh = ValueMesh.fromRuns(
    region,
    [
      { value: "x", length: 1 },
      { value: "y", length: 1 },
    ],
    (v) => v,
  );
  expect([...mesh].map(([point, value]) => `${point} ${value}`)).toEqual(["{'gpus': 0/2} x", "{'gpus': 1/2} y"]);
});

test("values keep their order when dimensions are split, renamed and flattened", () => {
  const mesh = ValueMesh.of({ gpus: 4 }, ["a", "b", "c", "d"]);
  const grid = mesh.split({ gpus: ["dp", "tp"] }, { tp: 2 }).rename({ tp: "model" });
  expect(grid.extent).toEqual({ dp: 2, model: 2 });
  expect([...grid.slice({ model: 1 }).values()]).toEqual(["b", "d"]);
  expect([...grid.flatten("rank").values()]).toEqual(["a", "b", "c", "d"]);
});

test("a table has a line for each rank", () => {
  const mesh = ValueMesh.of({ hosts: 1, gpus: 3 }, ["plain", { deep: [1] }, undefined]);
  expect(mesh.toTable()).toBe(
    [
      "rank  hosts  gpus  value",
      "0     0      0     'plain'",
      "1     0      1     { deep: [ 1 ] }",
      "2     0      2     undefined",
    ].join("\n"),
  );
  expect(ValueMesh.of({}, [1]).toTable()).toBe("rank  value\n0     1");
});

test("the extent of a mesh is frozen", () => {
  const { extent } = ValueMesh.of({ gpus: 1 }, [1]);
  expect(Object.isFrozen(extent)).toBe(true);
});
