/**
 * Finds the RDMA ports of this machine in /sys/class/infiniband. Reading these files is fast and needs no library; most
 * machines have no ports.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/**
 * Number of empty table entries in a row after which no addresses follow, because the kernel fills the first free
 * entry.
 */
const maxEmptyEntries = 64;

export interface RdmaPort {
  readonly device: string;
  /** The number of the port, from 1. */
  readonly port: number;
  /** The index of the address in the table of the port, and the address: 16 bytes. */
  readonly gidIndex: number;
  readonly gid: Uint8Array;
  readonly link: "ethernet" | "infiniband";
}

/**
 * Returns the active ports, each with its address of the widest scope.
 * @param only the only device to return, as `device` or `device:port`
 * @param root the folder of the devices
 */
export function activePorts(only: string | undefined, root = "/sys/class/infiniband"): readonly RdmaPort[] {
  if (!existsSync(root)) return [];
  const ports = readdirSync(root)
    .sort()
    .flatMap((device) =>
      readdirSync(path.join(root, device, "ports"))
        .filter((port) => only === undefined || only === device || only === `${device}:${port}`)
        .map((port) => portOf(root, device, Number(port))),
    );
  return ports.filter((port) => port !== undefined);
}

function portOf(root: string, device: string, port: number): RdmaPort | undefined {
  const folder = path.join(root, device, "ports", String(port));
  if (!readEntry(folder, "state").includes("ACTIVE")) return undefined;
  const link = readEntry(folder, "link_layer") === "InfiniBand" ? "infiniband" : "ethernet";
  const gids = gidsOf(folder).filter(({ type }) => link === "infiniband" || type.includes("RoCE v2"));
  const best = gids.sort((a, b) => reachability(b.gid) - reachability(a.gid))[0];
  return best === undefined ? undefined : { device, port, gidIndex: best.index, gid: best.gid, link };
}

/** Returns the used entries of the address table, which may have thousands of entries that are slow to read. */
function gidsOf(folder: string): { index: number; gid: Uint8Array; type: string }[] {
  const places = readdirSync(path.join(folder, "gids")).length;
  const gids: { index: number; gid: Uint8Array; type: string }[] = [];
  for (let index = 0, empty = 0; index < places && empty < maxEmptyEntries; index++) {
    const gid = Uint8Array.from(Buffer.from(readEntry(folder, `gids/${index}`).replaceAll(":", ""), "hex"));
    if (gid.length !== 16 || gid.every((byte) => byte === 0)) empty++;
    else {
      empty = 0;
      gids.push({ index, gid, type: readEntry(folder, `gid_attrs/types/${index}`) });
    }
  }
  return gids;
}

/** Returns the rank of an address: IPv4 addresses are routed most often, link-local addresses never. */
function reachability(gid: Uint8Array): number {
  if (gid[0] === 0xfe && (gid[1]! & 0xc0) === 0x80) return 0;
  return isIpv4(gid) ? 2 : 1;
}

function isIpv4(gid: Uint8Array): boolean {
  return gid.subarray(0, 10).every((byte) => byte === 0) && gid[10] === 0xff && gid[11] === 0xff;
}

/** Returns the content of a file, or an empty text: unused entries cannot be read. */
function readEntry(folder: string, name: string): string {
  try {
    return readFileSync(path.join(folder, name), "utf8").trim();
  } catch {
    return "";
  }
}

/** Returns the length of the common prefix of two addresses, in bits. */
export function commonBits(a: Uint8Array, b: Uint8Array): number {
  for (let index = 0; index < a.length; index++) {
    const differing = a[index]! ^ b[index]!;
    if (differing !== 0) return index * 8 + Math.clz32(differing) - 24;
  }
  return a.length * 8;
}

/** Returns the own port and the peer port whose addresses have the longest common prefix. */
export function nearestPorts<T extends { readonly gid: Uint8Array; readonly link: string }>(
  ours: readonly RdmaPort[],
  theirs: readonly T[],
): { readonly our: RdmaPort; readonly their: T } | undefined {
  const pairs = ours.flatMap((our) => theirs.filter(({ link }) => link === our.link).map((their) => ({ our, their })));
  return pairs.sort((a, b) => commonBits(b.our.gid, b.their.gid) - commonBits(a.our.gid, a.their.gid))[0];
}
