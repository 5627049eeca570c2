/** The hosts of a run in a file of its folder, so that the next program that uses them does not ask SkyPilot, which takes seconds. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatPlace, type HostPlace } from "../../mesh-spec.js";
import { type Announcement, formatAnnouncement, readHostLine } from "../machine/host-lines.js";

const fileName = "hosts";

/** @param folder that of the run */
export function saveHosts(folder: string, hosts: readonly Announcement[]): void {
  const file = join(folder, fileName);
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, hosts.map((host) => `${formatAnnouncement(host)}\n`).join(""), { mode: 0o600 });
  renameSync(draft, file);
}

/** Returns the last known hosts of all places; undefined if some are not known. They may have been lost since. */
export function savedHosts(
  folder: string,
  applyId: string,
  places: readonly HostPlace[],
): readonly Announcement[] | undefined {
  let text: string;
  try {
    text = readFileSync(join(folder, fileName), "utf8");
  } catch {
    return undefined;
  }
  const known = new Map<string, Announcement>();
  for (const line of text.split("\n")) {
    const read = readHostLine(line);
    if ("announcement" in read && read.announcement.applyId === applyId) {
      known.set(formatPlace(read.announcement), read.announcement);
    }
  }
  const hosts = places.flatMap((place) => known.get(formatPlace(place)) ?? []);
  return hosts.length === places.length ? hosts : undefined;
}
