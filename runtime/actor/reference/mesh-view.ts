/**
 * A mesh view: a region of a mesh seen through one interface. A handle of a mesh refers to a view. Views are immutable,
 * and the endpoints of a handle share one.
 */
import type { CastView } from "../../cast/sender/cast-view.js";
import {
  baseRank,
  baseRanks,
  type Extent,
  Point,
  type Region,
  regionExtent,
  regionSize,
  sameRegion,
  wholeRegion,
} from "../../shape/index.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import type { ActorTarget, MeshRecord } from "./mesh-record.js";

export class MeshView {
  readonly record: MeshRecord;
  readonly descriptor: ActorDescriptor;
  readonly region: Region;
  readonly extent: Extent;
  readonly size: number;
  /**
   * Whether the region is the whole spawned mesh. The receivers know their ranks in that mesh, so messages need not
   * carry them.
   */
  readonly isWholeMesh: boolean;
  /** The key that the one actor of this view was chosen by. Messages carry it. */
  readonly key: string | undefined;
  /** The shape of answers: the region of a mesh that has exactly the ranks of this view. */
  readonly answerRegion: Region;
  readonly #targets: (ActorTarget | undefined)[] = [];
  #castView: CastView | undefined;

  constructor(record: MeshRecord, descriptor: ActorDescriptor, region: Region, key?: string) {
    this.record = record;
    this.descriptor = descriptor;
    this.region = region;
    this.key = key;
    this.extent = regionExtent(region);
    this.size = regionSize(region);
    this.answerRegion = wholeRegion(this.extent);
    this.isWholeMesh = sameRegion(region, wholeRegion(record.extent));
  }

  /** Returns the actor at a rank of the region. */
  target(rank: number): ActorTarget {
    let target = this.#targets[rank];
    if (target === undefined) {
      target = this.record.target(baseRank(this.region, rank));
      this.#targets[rank] = target;
    }
    return target;
  }

  /** The number of actors that have not left the mesh, as far as this process knows. */
  get livingCount(): number {
    const { record, size } = this;
    if (!record.isResized) return size;
    let living = 0;
    for (let rank = 0; rank < size; rank++) if (this.target(rank).departure === undefined) living++;
    return living;
  }

  /** The procs of the actors, in rank order. */
  get procs(): readonly bigint[] {
    return Array.from({ length: this.size }, (_, rank) => this.target(rank).proc);
  }

  /** This view in the form that cast trees use. */
  get castView(): CastView {
    this.#castView ??= createCastView(this);
    return this.#castView;
  }

  /** Returns the names of the actors at the given ranks: `counters[2]`. */
  actorNames(ranks: readonly number[]): string[] {
    return ranks.map((rank) => `${this.record.name}[${baseRank(this.region, rank)}]`);
  }

  point(rank: number): Point {
    return new Point(this.extent, rank);
  }
}

function createCastView({ descriptor, region, isWholeMesh, extent }: MeshView): CastView {
  const { labels, sizes, offset, strides, members } = region;
  return {
    key: JSON.stringify([descriptor.key, String(descriptor.fingerprint), offset, labels, sizes, strides, members]),
    bases: [...baseRanks(region)],
    interface: descriptor,
    extent: isWholeMesh ? undefined : extent,
  };
}
