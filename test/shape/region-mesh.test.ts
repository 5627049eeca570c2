/** The methods that the meshes of hosts, procs and actors share, on a mesh of letters. */
import { expect, test } from "vitest";
import {
  baseRanks,
  meshOfRegion,
  meshRegion,
  type Region,
  RegionMesh,
  type RegionMeshKind,
  range,
  wholeRegion,
} from "../../runtime/shape/index.js";

interface LetterMeshKind extends RegionMeshKind {
  readonly mesh: LetterMesh<this["dims"]>;
}

/** A mesh whose members are the letters of the alphabet, in rank order. */
class LetterMesh<D extends string = string> extends RegionMesh<LetterMeshKind, D> {
  readonly #region: Region;

  constructor(region: Region) {
    super();
    this.#region = region;
  }

  get letters(): string {
    return [...baseRanks(this.#region)].map((rank) => String.fromCharCode(97 + rank)).join("");
  }

  protected get [meshRegion](): Region {
    return this.#region;
  }

  protected [meshOfRegion](region: Region): LetterMesh {
    return new LetterMesh(region);
  }
}

const letters = new LetterMesh<"hosts" | "gpus">(wholeRegion({ hosts: 2, gpus: 4 }));

test("a mesh has the extent and the size of its region", () => {
  expect([letters.extent, letters.size]).toEqual([{ hosts: 2, gpus: 4 }, 8]);
});

test("slices, splits, renamed and flattened meshes have the members of their regions", () => {
  expect(letters.slice({ hosts: 1 }).letters).toBe("efgh");
  expect(letters.slice({ gpus: range(1, 3) }).letters).toBe("bcfg");
  expect(letters.split({ gpus: ["dp", "tp"] }, { tp: 2 }).slice({ tp: 1 }).letters).toBe("bdfh");
  expect(letters.rename({ gpus: "tp" }).slice({ tp: 0 }).letters).toBe("ae");
  expect(letters.flatten("ranks").extent).toEqual({ ranks: 8 });
});

test("iteration yields each position with its member as a mesh of size 1", () => {
  const members = [...letters].map(([point, member]) => [point.rank, member.size, member.letters]);
  expect(members.slice(0, 2)).toEqual([
    [0, 1, "a"],
    [1, 1, "b"],
  ]);
  for (const [point, member] of letters) expect(letters.at(point).letters).toBe(member.letters);
});
