/** Which code the first processes on the hosts of a job run: what the hosts see of this machine's files, or what is brought to them. */
import { fileURLToPath } from "node:url";
import { locateModule, ownScheme } from "../../proc/platform/program-places.js";
import { currentRuntime } from "../../proc/process/current-runtime.js";
import type { AttachedHosts } from "../attached/attached-hosts.js";
import type { CodeTree } from "../attached/hosts-code.js";
import { lookAtFile } from "../daemon/node-machine.js";
import { loadSync } from "./sync-code.js";
import type { SyncOptions } from "./sync-options.js";

/**
 * Brings the code of this program to all hosts, unless each of them has its files at the same paths, on a file system that it shares
 * with this machine.
 *
 * @param needed the files and folders of which the hosts are asked. Default: the registries of this program
 * @returns the code, undefined if processes load it from the paths of this machine
 */
export async function firstCode(
  hosts: AttachedHosts,
  options: SyncOptions,
  needed: readonly string[] = programRegistries(),
): Promise<CodeTree | undefined> {
  if (hosts.hosts.every(({ target }) => target.address.kind === "unix")) return undefined;
  // A program without a registry of its own has no code that hosts could load.
  const files = needed.flatMap((file) => lookAtFile(file) ?? []);
  if (files.length === 0) return undefined;
  await hosts.ready;
  const questions = hosts.hosts.flatMap((host) =>
    files.map((file) => host.ask((agent) => agent.hasFile.callOne(file))),
  );
  if ((await Promise.all(questions)).every((isShared) => isShared)) return undefined;
  return (await (await loadSync()).syncTree(hosts, hosts.members.region, options, needed)).tree;
}

/** Returns the files of the registries of this program. Those of Viceroy are not the program's. */
export function programRegistries(): string[] {
  const own = locateModule(ownScheme);
  const urls = currentRuntime().platform.classes.registryUrls;
  return urls.filter((url) => url.startsWith("file:") && !url.startsWith(own)).map((url) => fileURLToPath(url));
}
