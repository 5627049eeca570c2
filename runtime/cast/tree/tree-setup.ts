/**
 * What a proc is told of its part of a tree: whose casts go down it, to which actors, by which interface, and which procs
 * are below. The first of those is the proc itself; the others it divides among a few of them.
 */
import type { ActorId, Location, MeshId, ProcId } from "../../link/address.js";
import type { BoundEndpoint } from "../../link/frame/binding.js";
import { readText, readU32, readU64, writeText, writeU32, writeU64 } from "../../link/frame/control-body.js";
import { ProtocolError } from "../../link/frame/frame.js";
import type { Reader } from "../../wire/reader.js";
import type { Writer } from "../../wire/writer.js";
import { mergeRuns, type RankRun, readList } from "./rank-runs.js";

/** One actor: its rank in what is cast to, which may be a slice, and in its mesh. */
export interface PlacedRank {
  readonly viewRank: number;
  readonly meshRank: number;
}

/** One proc with the actors on it, of which there is at least one. */
export interface PlannedProc {
  readonly proc: ProcId;
  readonly location: Location;
  readonly ranks: readonly PlacedRank[];
}

/** An interface as the caster knows it. */
export interface CastInterface {
  readonly key: string;
  readonly name: string;
  readonly fingerprint: bigint;
  readonly endpoints: readonly BoundEndpoint[];
}

export interface TreeSetup {
  /** Where the caster lives. */
  readonly root: ProcId;
  readonly location: Location;
  /** Drawn by the root: one more for each. */
  readonly tree: number;
  /** The first of the trees whose place it takes, procs of those being lost; its own number: there are none. */
  readonly lineage: number;
  /** Casts of those that somebody still waits for: the answers to all others can be forgotten. */
  readonly unfinished: readonly number[];
  readonly sender: ActorId & { readonly name: string };
  readonly mesh: MeshId;
  /** The proc that knows whether the mesh exists. */
  readonly owner: ProcId;
  readonly interface: CastInterface;
  /** Ranks of what is cast to, those on other parts of the tree included. */
  readonly size: number;
  /** Sizes by name of a slice; undefined: the mesh as it was spawned. */
  readonly extent: Readonly<Record<string, number>> | undefined;
  /** Un-taken casts and bytes that the root allows. */
  readonly window: { readonly casts: number; readonly bytes: number };
  readonly procs: readonly PlannedProc[];
}

/** The ranks of a part of a tree, in what is cast to. */
export function ranksOfProcs(procs: readonly PlannedProc[]): RankRun[] {
  return mergeRuns(procs.flatMap(({ ranks }) => ranks.map(({ viewRank }) => ({ start: viewRank, count: 1 }))));
}

/** At most `fanout` parts of about the same size, in order. */
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

/** @throws ProtocolError unless the first proc is `self` */
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
