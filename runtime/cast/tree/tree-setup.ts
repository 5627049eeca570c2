/**
 * The setup of a part of a tree: the sender, the target actors, the interface, and the procs of the part. The first
 * proc is the receiver of the setup; it divides the others among a few of them.
 */
import type { ActorId, Location, MeshId, ProcId } from "../../link/address.js";
import type { BoundEndpoint } from "../../link/frame/binding.js";
import { readText, readU32, readU64, writeText, writeU32, writeU64 } from "../../link/frame/control-body.js";
import { ProtocolError } from "../../link/frame/frame.js";
import type { Reader } from "../../wire/reader.js";
import type { Writer } from "../../wire/writer.js";
import { mergeRuns, type RankRun, readList } from "./rank-runs.js";

/** One actor: its rank in the view, which may be a slice, and its rank in the mesh. */
export interface PlacedRank {
  readonly viewRank: number;
  readonly meshRank: number;
}

/** A proc with its actors, at least one. */
export interface PlannedProc {
  readonly proc: ProcId;
  readonly location: Location;
  readonly ranks: readonly PlacedRank[];
}

/** An interface, as the cast sender knows it. */
export interface CastInterface {
  readonly key: string;
  readonly name: string;
  readonly fingerprint: bigint;
  readonly endpoints: readonly BoundEndpoint[];
}

export interface TreeSetup {
  /** The proc of the cast sender. */
  readonly root: ProcId;
  readonly location: Location;
  /** The number of the tree, which the root increases by 1 for each tree. */
  readonly tree: number;
  /**
   * The number of the first tree in the series of trees that have replaced one another after procs were lost. It is the
   * tree's own number if the tree has replaced none.
   */
  readonly lineage: number;
  /** The casts of earlier trees of the lineage for which callers still wait. Answers to all others can be dropped. */
  readonly unfinished: readonly number[];
  readonly sender: ActorId & { readonly name: string };
  readonly mesh: MeshId;
  /** The proc that owns the mesh and knows whether it exists. */
  readonly owner: ProcId;
  readonly interface: CastInterface;
  /** The number of ranks of the view, including those in other parts of the tree. */
  readonly size: number;
  /** The extent of a slice, or undefined for the mesh as it was spawned. */
  readonly extent: Readonly<Record<string, number>> | undefined;
  /** The number of casts that not all actors have taken, and of their bytes, that the root allows. */
  readonly window: { readonly casts: number; readonly bytes: number };
  readonly procs: readonly PlannedProc[];
}

/** Returns the ranks of some procs in the view. */
export function ranksOfProcs(procs: readonly PlannedProc[]): RankRun[] {
  return mergeRuns(procs.flatMap(({ ranks }) => ranks.map(({ viewRank }) => ({ start: viewRank, count: 1 }))));
}

/** Splits procs into at most `fanout` parts of about the same size, in order. */
export function splitEvenly<T>(procs: readonly T[], fanout: number): T[][] {
  const parts: T[][] = [];
  const count = Math.min(fanout, procs.length);
  for (let i = 0; i < count; i++) {
    parts.push(procs.slice(Math.floor((i * procs.length) / count), Math.floor(((i + 1) * procs.length) / count)));
  }
  return parts;
}

export function writeSetup(w: Writer, setup: TreeSetup): void {
  const { sender, interface: known, extent, window } = setup;
  writeU64(w, setup.root);
  writeText(w, setup.location);
  writeU32(w, setup.tree);
  writeU32(w, setup.lineage);
  writeU32(w, setup.unfinished.length);
  for (const seq of setup.unfinished) writeU32(w, seq);
  writeU64(w, sender.proc);
  writeU64(w, sender.mesh);
  writeU32(w, sender.rank);
  writeU32(w, sender.incarnation);
  writeText(w, sender.name);
  writeU64(w, setup.mesh);
  writeU64(w, setup.owner);
  writeText(w, known.key);
  writeText(w, known.name);
  writeU64(w, known.fingerprint);
  writeU32(w, known.endpoints.length);
  for (const { id, name } of known.endpoints) {
    writeU32(w, id);
    writeText(w, name);
  }
  writeU32(w, setup.size);
  writeU32(w, extent === undefined ? 0 : 1);
  const sizes = Object.entries(extent ?? {});
  writeU32(w, sizes.length);
  for (const [name, size] of sizes) {
    writeText(w, name);
    writeU32(w, size);
  }
  writeU32(w, window.casts);
  writeU32(w, window.bytes);
  writeU32(w, setup.procs.length);
  for (const { proc, location, ranks } of setup.procs) {
    writeU64(w, proc);
    writeText(w, location);
    writeU32(w, ranks.length);
    for (const { viewRank, meshRank } of ranks) {
      writeU32(w, viewRank);
      writeU32(w, meshRank);
    }
  }
}

/**
 * Reads a setup.
 * @throws ProtocolError unless the first proc is `self`
 */
export function readSetup(r: Reader, universe: bigint, self: ProcId): TreeSetup {
  const root = readU64(r);
  const location = readText(r);
  const tree = readU32(r);
  const lineage = readU32(r);
  const unfinished = readList(r, 4, () => readU32(r));
  const sender = {
    universe,
    proc: readU64(r),
    mesh: readU64(r),
    rank: readU32(r),
    incarnation: readU32(r),
    name: readText(r),
  };
  const mesh = readU64(r);
  const owner = readU64(r);
  const key = readText(r);
  const name = readText(r);
  const fingerprint = readU64(r);
  const endpoints = readList(r, 8, () => ({ id: readU32(r), name: readText(r) }));
  const size = readU32(r);
  const sliced = readU32(r) === 1;
  const sizes = readList(r, 8, () => [readText(r), readU32(r)] as const);
  const window = { casts: readU32(r), bytes: readU32(r) };
  const procs = readList(r, 16, () => ({
    proc: readU64(r),
    location: readText(r),
    ranks: readList(r, 8, () => ({ viewRank: readU32(r), meshRank: readU32(r) })),
  }));
  if (procs[0]?.proc !== self) throw new ProtocolError("the tree begins with another process");
  const extent = sliced ? Object.freeze(Object.fromEntries(sizes)) : undefined;
  const place = { root, location, tree, lineage, unfinished, mesh, owner, size, window };
  return { ...place, sender, interface: { key, name, fingerprint, endpoints }, extent, procs };
}
