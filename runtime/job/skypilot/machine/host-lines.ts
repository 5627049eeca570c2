/**
 * The lines of hosts in the log of a cluster. Each line of a host begins with its place, and one that announces a host has a mark instead, so
 * that nothing that a host prints is taken for an announcement. SkyPilot puts the machine before each line: `(worker1, rank=1, pid=490, ip=10.0.0.2) `.
 */
import { isIP } from "node:net";
import { formatPlace, type HostPlace } from "../../mesh-spec.js";
import { isObject, parseJson } from "../api/plain-json.js";

const mark = "viceroy-host ";

/** The description of a host, which it prints when it starts and when it is asked again. */
export interface Announcement extends HostPlace {
  readonly applyId: string;
  /** A random id of this start of the host. */
  readonly boot: string;
  /** The number of this start: a later one of the same place has a larger number. */
  readonly incarnation: number;
  /** The address of the machine in the network of the cluster. */
  readonly ip: string;
  readonly port: number;
}

export function formatAnnouncement(announcement: Announcement): string {
  return mark + JSON.stringify(announcement);
}

export function formatHostLine(place: HostPlace, line: string): string {
  return `${formatPlace(place)} | ${line}`;
}

/** A line of the log after it was read: an announcement, a line of a host, or another line. */
export type ReadHostLine =
  | { readonly announcement: Announcement }
  | { readonly place: HostPlace; readonly line: string }
  | { readonly other: string };

/** @param text a line of the log of a cluster, of which each host can have printed any part */
export function readHostLine(text: string): ReadHostLine {
  const line = text.replace(/^\([^()]{0,200}\bpid=\d+[^()]{0,100}\) ?/, "");
  if (line.startsWith(mark)) {
    const announcement = parseAnnouncement(line.slice(mark.length));
    if (announcement !== undefined) return { announcement };
  }
  const [, mesh, rank, rest] = /^([A-Za-z_]\w{0,63})\[(\d{1,6})\] \| (.*)$/s.exec(line) ?? [];
  return mesh === undefined ? { other: text } : { place: { mesh, rank: Number(rank) }, line: rest! };
}

function parseAnnouncement(text: string): Announcement | undefined {
  const value = parseJson(text);
  if (!isObject(value)) return undefined;
  const { applyId, mesh, rank, boot, incarnation, ip, port } = value;
  if (typeof applyId !== "string" || typeof mesh !== "string" || !isWhole(rank, 1e6)) return undefined;
  // The id becomes the name of a file.
  if (typeof boot !== "string" || !/^[0-9a-f]{32}$/.test(boot)) return undefined;
  if (!isWhole(incarnation, Number.MAX_SAFE_INTEGER) || !isWhole(port, 65_534)) return undefined;
  if (typeof ip !== "string" || isIP(ip) === 0) return undefined;
  return { applyId, mesh, rank, boot, incarnation, ip, port };
}

function isWhole(value: unknown, largest: number): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= largest;
}
