/**
 * Which RDMA ports this machine has, as the kernel tells in /sys/class/infiniband. Looking costs little and loads no library; most machines
 * have none.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** Places without an address, one after the other, behind which there are no more: the kernel takes the first that is free. */
const maxEmptyEntries = 64;

export interface RdmaPort {
  readonly device: string;
  /** From 1. */
  readonly port: number;
  /** Which of its addresses, and that address: 16 bytes. */
  readonly gidIndex: number;
  readonly gid: Uint8Array;
  readonly link: "ethernet" | "infiniband";
}

/**
 * Ports that are up, each with the address that reaches furthest.
 * @param only `device` or `device:port`: no other
 * @param root where the kernel shows them
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

/** What is in use of a table with up to thousands of places, of which reading one costs the more the slower the machine is. */
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

/** Addresses of IPv4 are routed most often, those of one link never. */
function reachability(gid: Uint8Array): number {
  if (gid[0] === 0xfe && (gid[1]! & 0xc0) === 0x80) return 0;
  return isIpv4(gid) ? 2 : 1;
}

function isIpv4(gid: Uint8Array): boolean {
  return gid.subarray(0, 10).every((byte) => byte === 0) && gid[10] === 0xff && gid[11] === 0xff;
}

/** Entries that are not in use cannot be read. */
function readEntry(folder: string, name: string): string {
  try {
    return readFileSync(path.join(folder, name), "utf8").trim();
  } catch {
    return "";
  }
}

/** How alike two addresses are, in bits from the left: the more, the nearer. */
export function commonBits(a: Uint8Array, b: Uint8Array): number {
  for (let index = 0; index < a.length; index++) {
    const differing = a[index]! ^ b[index]!;
    if (differing !== 0) return index * 8 + Math.clz32(differing) - 24;
  }
  return a.length * 8;
}

/** The pair of ports, ours and theirs, that are nearest to each other. */
export function nearestPorts<T extends { readonly gid: Uint8Array; readonly link: string }>(
  ours: readonly RdmaPort[],
  theirs: readonly T[],
): { readonly our: RdmaPort; readonly their: T } | undefined {
  const pairs = ours.flatMap((our) => theirs.filter(({ link }) => link === our.link).map((their) => ({ our, their })));
  return pairs.sort((a, b) => commonBits(b.our.gid, b.their.gid) - commonBits(a.our.gid, a.their.gid))[0];
}
