/**
 * Ports and meshes as values: what stands for them in a message. A port is its address and type; a mesh is its identity,
 * a region, the key that it was chosen by, and where the ranks of that region live. What has not been spawned yet can be sent too: its address is known.
 */
import { describeValue } from "../../../shared/text/describe-value.js";
import type { Location, ProcId } from "../../link/address.js";
import { readText, readU32, readU64, writeText, writeU32, writeU64 } from "../../link/frame/control-body.js";
import {
  baseRanks,
  checkExtent,
  checkRegion,
  detachedRegion,
  type Extent,
  extentSize,
  formatExtent,
  type Region,
  regionExtent,
  regionSize,
} from "../../shape/index.js";
import type { Codec } from "../../wire/codec.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import type { Reader } from "../../wire/reader.js";
import type { WireEnvironment } from "../../wire/wire-environment.js";
import type { Writer } from "../../wire/writer.js";
import { checkKey } from "../call/rank-of-key.js";
import { ReplyPort } from "../cell/replier.js";
import { portsRead, portsWritten } from "../port/announce-holders.js";
import { ChannelPort } from "../port/port.js";
import { PortTarget } from "../port/port-target.js";
import type { MeshIdentity, RankLocation } from "../reference/mesh-record.js";
import { MeshView } from "../reference/mesh-view.js";
import { ActorMesh, makeMesh, viewOf } from "./actor-mesh.js";
import { currentMeshRecord } from "./current-mesh-record.js";

export const actorHandleCodecs: WireEnvironment = { writePort, readPort, writeMesh, readMesh };

function writePort(w: Writer, given: unknown, element: Codec<unknown>): void {
  const port = given instanceof ReplyPort ? given.replier.toChannelPort() : given;
  if (!(port instanceof ChannelPort)) throw new TypeError(`expected a port, got ${describeValue(given)}`);
  const { target, codec } = port;
  // The type is checked against the schema of this process; the process that opened the port may have another one.
  if (codec.fingerprint !== element.fingerprint) {
    throw new TypeError(`expected a port of ${element.name}, got a port of ${codec.name}`);
  }
  writeU64(w, target.proc);
  writeU64(w, target.number);
  writeU64(w, target.fingerprint);
  writeText(w, target.location);
  portsWritten.push(port);
}

function readPort(r: Reader, element: Codec<unknown>): ChannelPort<unknown> {
  const proc = readU64(r);
  const number = readU64(r);
  const fingerprint = readU64(r);
  const location = readText(r);
  const port = new ChannelPort(new PortTarget(proc, number, fingerprint, location), element);
  portsRead.push(port);
  return port;
}

function writeMesh(w: Writer, mesh: unknown, descriptor: ActorDescriptor, dims: readonly string[] | undefined): void {
  if (!(mesh instanceof ActorMesh))
    throw new TypeError(`expected a mesh of ${descriptor.name}, got ${describeValue(mesh)}`);
  const view = viewOf(mesh);
  checkInterface(view.descriptor, descriptor);
  checkDimensions(view.region, dims);
  const { record, region, key } = view;
  writeU64(w, record.id);
  writeU64(w, record.owner);
  writeText(w, descriptor.key);
  writeText(w, record.name);
  writeExtent(w, record.extent);
  writeRegion(w, region);
  writeRanks(
    w,
    Array.from({ length: view.size }, (_, rank) => view.target(rank)),
    key,
  );
}

function readMesh(r: Reader, descriptor: ActorDescriptor, dims: readonly string[] | undefined): ActorMesh {
  const id = readU64(r);
  const owner = readU64(r);
  const found = readText(r);
  if (found !== descriptor.key) throw new TypeError(`expected a mesh of ${descriptor.key}, got a mesh of ${found}`);
  const name = readText(r);
  const extent = readExtent(r);
  const region = readRegion(r);
  checkRegion(region, region.members?.length ?? extentSize(extent));
  checkDimensions(region, dims);
  const identity: MeshIdentity = { id, owner, name, extent };
  const record = currentMeshRecord(identity);
  const { ranks: locations, key } = readRanks(r, regionSize(region));
  if (key !== undefined) checkKey(name, key);
  let i = 0;
  for (const base of baseRanks(region)) record.setLocation(base, locations[i++]!);
  return makeMesh(new MeshView(record, descriptor, region, key));
}

/** @throws TypeError unless `actual` is `expected`, or extends it */
function checkInterface(actual: ActorDescriptor, expected: ActorDescriptor): void {
  if (!extendsInterface(actual, expected))
    throw new TypeError(`expected a mesh of ${expected.name}, got a mesh of ${actual.name}`);
}

function extendsInterface(actual: ActorDescriptor, expected: ActorDescriptor): boolean {
  if (actual.key === expected.key) return actual.fingerprint === expected.fingerprint;
  return actual.extends.some((base) => extendsInterface(base(), expected));
}

function checkDimensions(region: Region, dims: readonly string[] | undefined): void {
  if (dims === undefined) return;
  const { labels } = region;
  if (labels.length === dims.length && dims.every((name) => labels.includes(name))) return;
  const expected = dims.length === 0 ? "no dimensions" : `the dimensions ${dims.join(", ")}`;
  throw new TypeError(`expected a mesh with ${expected}, got ${formatExtent(regionExtent(region))}`);
}

function writeExtent(w: Writer, extent: Extent): void {
  const entries = Object.entries(extent);
  writeU32(w, entries.length);
  for (const [name, size] of entries) {
    writeText(w, name);
    writeU32(w, size);
  }
}

function readExtent(r: Reader): Extent {
  const entries: [string, number][] = [];
  for (let left = readU32(r); left > 0; left--) entries.push([readText(r), readU32(r)]);
  return checkExtent(Object.fromEntries(entries));
}

/**
 * Marks the number of dimensions of a region whose members follow. Regions without members are written as they were before
 * there were members, so that older processes read them.
 */
const MEMBERS_FOLLOW = 0x8000_0000;

function writeRegion(w: Writer, region: Region): void {
  if (region.members === undefined) {
    writeShape(w, region, 0);
    return;
  }
  const members = [...baseRanks(region)];
  writeShape(w, detachedRegion(region), MEMBERS_FOLLOW);
  writeU32(w, members.length);
  for (const member of members) writeU32(w, member);
}

function writeShape(w: Writer, { labels, sizes, offset, strides }: Region, flag: number): void {
  writeU32(w, labels.length + flag);
  writeU32(w, offset);
  for (const [i, label] of labels.entries()) {
    writeText(w, label);
    writeU32(w, sizes[i]!);
    writeU32(w, strides[i]!);
  }
}

function readRegion(r: Reader): Region {
  const labels: string[] = [];
  const sizes: number[] = [];
  const strides: number[] = [];
  const count = readU32(r);
  const offset = readU32(r);
  for (let left = count % MEMBERS_FOLLOW; left > 0; left--) {
    labels.push(readText(r));
    sizes.push(readU32(r));
    strides.push(readU32(r));
  }
  if (count < MEMBERS_FOLLOW) return { labels, sizes, offset, strides };
  const members: number[] = [];
  for (let left = readU32(r); left > 0; left--) members.push(readU32(r));
  return { labels, sizes, offset, strides, members };
}

/**
 * The id of an entry in the list of processes that is none: its location is the key of the mesh. No rank refers to it, so
 * that processes that do not know keys in handles read the handle as one without a key.
 */
const KEY_ENTRY = 0n;

/**
 * Each process once, and the key if there is one; then for each rank which of the processes; then how many times those
 * have moved that have.
 */
function writeRanks(w: Writer, ranks: readonly RankLocation[], key: string | undefined): void {
  const procs = new Map<ProcId, number>();
  const locations: RankLocation[] = [];
  for (const rank of ranks) {
    if (procs.has(rank.proc)) continue;
    procs.set(rank.proc, locations.length);
    locations.push(rank);
  }
  writeU32(w, locations.length + (key === undefined ? 0 : 1));
  for (const { proc, location } of locations) {
    writeU64(w, proc);
    writeText(w, location);
  }
  if (key !== undefined) {
    writeU64(w, KEY_ENTRY);
    writeText(w, key);
  }
  for (const { proc } of ranks) writeU32(w, procs.get(proc)!);
  const moved = ranks.flatMap(({ generation = 0 }, rank) => (generation > 0 ? [[rank, generation] as const] : []));
  writeU32(w, moved.length);
  for (const [rank, generation] of moved) {
    writeU32(w, rank);
    writeU32(w, generation);
  }
}

interface ReadRanks {
  readonly ranks: readonly RankLocation[];
  readonly key: string | undefined;
}

function readRanks(r: Reader, size: number): ReadRanks {
  const locations: { proc: ProcId; location: Location }[] = [];
  for (let left = readU32(r); left > 0; left--) locations.push({ proc: readU64(r), location: readText(r) });
  const ranks: RankLocation[] = [];
  // Pushed one by one: a size that lies is found out before memory is taken for it.
  for (let left = size; left > 0; left--) {
    const location = locations[readU32(r)];
    if (location === undefined) throw new RangeError("a rank of the mesh has no process");
    ranks.push(location);
  }
  for (let left = readU32(r); left > 0; left--) {
    const rank = readU32(r);
    const generation = readU32(r);
    const location = ranks[rank];
    if (location === undefined) throw new RangeError(`rank ${rank} of the mesh has moved, and there is none`);
    ranks[rank] = { ...location, generation };
  }
  return { ranks, key: locations.find(({ proc }) => proc === KEY_ENTRY)?.location };
}
