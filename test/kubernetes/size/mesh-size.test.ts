/** Tests of what a Job tells about the size of its mesh. */
import { expect, test } from "vitest";
import {
  begunGrowth,
  endedRanks,
  failedGrowth,
  finishedGrowth,
  shrunk,
  sizeChange,
  sizeOf,
} from "../../../runtime/job/kubernetes/size/mesh-size.js";

const job = (completions: number, annotations = {}, status = {}) => ({
  metadata: { resourceVersion: "7", annotations },
  spec: { completions },
  status,
});

test("a size is read again as it was written", () => {
  const size = { hosts: 5, kept: 3, growths: { a: 5 } };
  const { metadata, spec } = sizeChange(job(2), size) as ReturnType<typeof job>;
  expect(metadata.resourceVersion).toBe("7");
  expect(spec).toEqual({ completions: 5, parallelism: 5 });
  expect(sizeOf(job(spec.completions, metadata.annotations), 2)).toEqual(size);
});

test("annotations that no driver has written are as if they were not there", () => {
  for (const text of ["", "x", "null", "[]", '{"a":"4","b":-1,"c":1.5,"d":null}', "9".repeat(400)]) {
    const annotations = { "viceroy/growths": text, "viceroy/hosts": text };
    expect(sizeOf(job(4, annotations), 2)).toEqual({ hosts: 4, kept: 2, growths: {} });
  }
});

test("a growth that fails leaves what other drivers have or wait for", () => {
  const size = begunGrowth(begunGrowth({ hosts: 2, kept: 2, growths: {} }, "a", 6), "b", 4);
  expect(failedGrowth(size, "a")).toEqual({ hosts: 4, kept: 2, growths: { b: 4 } });
  const finished = finishedGrowth(size, "b", 4)!;
  expect(failedGrowth(finished, "a")).toEqual({ hosts: 4, kept: 4, growths: {} });
  expect(failedGrowth(finished, "b")).toBe(finished);
});

test("a growth cannot finish when the mesh has got smaller meanwhile, and can finish twice", () => {
  const size = begunGrowth({ hosts: 2, kept: 2, growths: {} }, "a", 4);
  expect(finishedGrowth(shrunk(size, 3), "a", 4)).toBe(undefined);
  const finished = finishedGrowth(size, "a", 4)!;
  expect(finishedGrowth(finished, "a", 4)).toEqual(finished);
});

test("a mesh that gets smaller does not get larger by it, and keeps growths within it", () => {
  const size = { hosts: 3, kept: 2, growths: { a: 3, b: 2 } };
  expect(shrunk(size, 5)).toEqual({ hosts: 3, kept: 3, growths: { a: 3, b: 2 } });
  expect(shrunk(size, 2)).toEqual({ hosts: 2, kept: 2, growths: { b: 2 } });
});

test("the ranks that have ended for good are those of both lists, however long their ranges are", () => {
  const ended = endedRanks(job(9, {}, { completedIndexes: "1,3-5", failedIndexes: "7-4000000000,x" }));
  expect(ended.last).toBe(4_000_000_000);
  expect([0, 1, 2, 3, 4, 5, 6, 7, 8].filter((rank) => ended.has(rank))).toEqual([1, 3, 4, 5, 7, 8]);
  expect(endedRanks(job(9)).last).toBe(-1);
});
