/** Brings the code of a program to the hosts of a job before the first processes are spawned there, unless they see it already. */
import { fileURLToPath } from "node:url";
import { type AttachedHosts, currentRuntime, locateModule, lookAtFile, ownScheme, type SyncOptions } from "./kernel.js";
import { syncTree } from "./sync-hosts.js";
import type { SyncedTree } from "./synced-tree.js";

/**
 * Brings the code to all hosts, unless each of them has the registries of the program at the same paths, on a file system that it
 * shares with this machine.
 *
 * @returns the code, undefined if hosts load it from the paths of this machine
 */
export async function syncFirst(hosts: AttachedHosts, options: SyncOptions): Promise<SyncedTree | undefined> {
  const own = locateModule(ownScheme);
  const urls = currentRuntime().platform.classes.registryUrls.filter(
    (url) => url.startsWith("file:") && !url.startsWith(own),
  );
  const files = urls.flatMap((url) => lookAtFile(fileURLToPath(url)) ?? []);
  // A program without a registry, or one that is a part of a bundle, has no code that hosts could load.
  if (files.length === 0) return undefined;
  await hosts.ready;
  const seen = await Promise.all(
    hosts.hosts.flatMap((host) => files.map((file) => host.ask((agent) => agent.hasFile.callOne(file)))),
  );
  if (seen.every((isSeen) => isSeen)) return undefined;
  return (await syncTree(hosts, hosts.members.region, options)).tree;
}
