/** `PlacementGroup`: resources that are reserved together, as a mesh of bundles. */
import {
  baseRanks,
  meshOfRegion,
  meshRegion,
  type Region,
  RegionMesh,
  type RegionMeshKind,
  regionSize,
} from "../kernel.js";

/** The bundles of a group and their hosts, which all slices share. */
export interface GroupRecord {
  readonly id: bigint;
  /** The index of the host of each bundle. */
  readonly hosts: readonly number[];
  /** Ends the reservation. */
  readonly remove: () => Promise<void>;
  /** The number of tasks and actors that were placed. */
  placed: number;
  isRemoved: boolean;
}

interface PlacementGroupKind extends RegionMeshKind {
  readonly mesh: PlacementGroup<this["dims"]>;
}

/**
 * Resources that are reserved together, or a slice of them. Tasks and actors that are placed in a slice take turns on its
 * bundles.
 *
 * @example
 * ```ts
 * import { JobContext, task } from "viceroy/tasks";
 *
 * export const where = task(import.meta.url, "where", () => process.pid);
 *
 * await using context = await JobContext.open({ procs: 4 });
 * await using group = await context.placementGroup([{ cpus: 2 }, { cpus: 1 }], { strategy: "pack" });
 * const ref = context.with({ resources: { cpus: 2 }, placement: group.slice({ bundles: 0 }) }).run(where);
 * console.log(await context.get(ref));
 * ```
 */
export class PlacementGroup<D extends string = string>
  extends RegionMesh<PlacementGroupKind, D>
  implements AsyncDisposable
{
  readonly #record: GroupRecord;
  readonly #region: Region;

  /**
   * Called by `JobContext.placementGroup`.
   *
   * @hidden
   */
  constructor(record: GroupRecord, region: Region) {
    super();
    this.#record = record;
    this.#region = region;
  }

  /**
   * Ends the reservation. Tasks that run in the bundles are ended with their processes, and actors are stopped. Removing a
   * group again has no effect.
   *
   * @returns a promise that resolves when the resources are free
   * @throws {Error} as a rejection, when this is a slice
   */
  async remove(): Promise<void> {
    const record = this.#record;
    if (regionSize(this.#region) !== record.hosts.length) {
      throw new Error("cannot remove a slice of a placement group: remove the whole group");
    }
    if (record.isRemoved) return;
    record.isRemoved = true;
    await record.remove();
  }

  /** Removes the group at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.remove();
  }

  /**
   * Returns the bundle for the next task or actor.
   *
   * @param what begins the text of an error
   * @hidden
   */
  nextBundle(what: string): { readonly group: bigint; readonly index: number; readonly host: number } {
    const record = this.#record;
    if (record.isRemoved) throw new Error(`${what}: the placement group was removed`);
    const bundles = [...baseRanks(this.#region)];
    const index = bundles[record.placed++ % bundles.length]!;
    return { group: record.id, index, host: record.hosts[index]! };
  }

  /** Returns the extent as text: `placement group {"bundles":2}`. */
  override toString(): string {
    return `placement group ${JSON.stringify(this.extent)}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }

  /** @hidden */
  protected get [meshRegion](): Region {
    return this.#region;
  }

  /** @hidden */
  protected [meshOfRegion](region: Region): PlacementGroup {
    return new PlacementGroup(this.#record, region);
  }
}
