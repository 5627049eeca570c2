/**
 * Brings the code of a program to hosts: scans the roots, stores the tree on this machine, lets every host fetch it from the others, and
 * makes it the code of later processes.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import { cacheDirectory } from "../cache/private-files.js";
import { checkSyncOptions } from "./check-options.js";
import { CodeStores, driverStore } from "./code-stores.js";
import {
  type AttachedHosts,
  baseRanks,
  programRegistries,
  type Region,
  type SyncOptions,
  type SyncReport,
} from "./kernel.js";
import { lockedPackages } from "./packages/locked-packages.js";
import { withPreparedModules } from "./prepared-modules.js";
import { contains } from "./scan/check-root.js";
import { type Scan, scan } from "./scan/scan.js";
import { ingest } from "./store/ingest.js";
import { SyncError } from "./sync-error.js";
import { SyncedTree } from "./synced-tree.js";
import { sizeOf } from "./tree/manifest.js";

/**
 * Brings the code of this program to hosts, and makes it the code of later processes there.
 *
 * @param started further files with which processes there start; those outside of the roots are ignored
 * @throws {SyncError} if the roots cannot be scanned, the store of this machine cannot be written, or a host does not get the tree
 */
export async function syncTree(
  hosts: AttachedHosts,
  region: Region,
  options: SyncOptions,
  started: readonly string[] = [],
): Promise<{ readonly tree: SyncedTree; readonly report: SyncReport }> {
  checkSyncOptions(options);
  const { roots = [projectFolder(process.cwd())], onProgress = () => {}, quota } = options;
  const { onProgress: _, quota: __, packages = true, limits, ...rules } = options;
  await hosts.ready;
  const isInRoots = (file: string) => roots.some((root) => contains(path.resolve(root), file));
  const needed = [...programRegistries(), ...started.filter(isInRoots)];
  const scanned = await scan({
    ...rules,
    ...(limits === undefined ? {} : { limits }),
    roots,
    needed,
    hasDependencies: packages === true,
    ...(packages !== false ? { packages: needed.some((file) => /\.[cm]?tsx?$/.test(file)) ? ["tsx"] : [] } : {}),
    memory: path.join(cacheDirectory(), "scans"),
  });
  const stores = CodeStores.of(hosts, quota);
  // Processes start on the hosts while this machine works.
  stores.start(region);
  const found = await withPreparedModules(scanned);
  const { manifest, entries } = found;
  const installed = packages === "install" ? await lockedPackages(found.roots) : [];
  const { files, arrivals } = await driverStore();
  // The tree stays in the store of this machine, because hosts that join later get it, too.
  files.use(manifest.id);
  const members = [...baseRanks(region)].map((number) => hosts.hostAt(number));
  const size = { files: entries.length, bytes: entries.reduce((sum, entry) => sum + sizeOf(entry), 0) };
  let done = 0;
  onProgress({ ...size, done, hosts: members.length });
  const tree = new SyncedTree(hosts, stores, found, { name: nameOf(found), packages: installed });
  arrivals.begin(manifest.id);
  // Hosts fetch what is stored while the rest is read.
  const [stored, brought] = await Promise.allSettled([
    ingest(found, files, (digest) => arrivals.arrived(manifest.id, digest)).catch((error: Error) => {
      arrivals.failed(manifest.id, error.message);
      throw error;
    }),
    stores.bring(tree, region, () => onProgress({ ...size, done: ++done, hosts: members.length })),
  ]);
  // Hosts have failed for the same reason.
  if (stored.status === "rejected") throw stored.reason;
  if (brought.status === "rejected") throw brought.reason;
  const results = brought.value;
  const failures: { readonly address: string; readonly error: Error }[] = [];
  const synced = results.flatMap((result, i) => {
    const { address, id } = members[i]!;
    if (result.status === "rejected") {
      failures.push({ address, error: result.reason as Error });
      return [];
    }
    const { folder, bytes, driverBytes, skipped } = result.value;
    tree.add(id, folder);
    return [{ address, folder, bytes, driverBytes, skipped }];
  });
  if (failures.length > 0) throw hostsFailed(failures, members.length);
  hosts.code.set(tree);
  return { tree, report: { tree: manifest.id, ...size, hosts: synced } };
}

function hostsFailed(
  failures: readonly { readonly address: string; readonly error: Error }[],
  hosts: number,
): SyncError {
  const shown = failures.slice(0, 3).map(({ address, error }) => `host ${address}: ${error.message}`);
  const others = failures.length > shown.length ? `; and ${failures.length - shown.length} others` : "";
  const errors = failures.map(({ error }) => error);
  return new SyncError(
    "host-failed",
    `cannot bring the code to ${failures.length} of ${hosts} host${hosts === 1 ? "" : "s"}: ${shown.join("; ")}${others}`,
    { cause: errors.length === 1 ? errors[0] : new AggregateError(errors) },
  );
}

/** Returns the folder of the nearest package.json at or above a folder; the folder itself if there is none. */
export function projectFolder(folder: string): string {
  for (let at = folder; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, "package.json"))) return at;
    if (path.dirname(at) === at) return folder;
  }
}

/** Returns the name under which hosts have the code of this program: readable, and different for other programs. */
function nameOf({ top }: Scan): string {
  const readable = path
    .basename(top)
    .replaceAll(/[^\w.-]/g, "_")
    .replace(/^[^\w]+/, "")
    .slice(0, 40);
  return `${readable || "program"}-${createHash("sha256").update(top).digest("hex").slice(0, 12)}`;
}
