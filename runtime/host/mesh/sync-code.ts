/** `HostMesh.sync`: its options and its result. What carries it out is a module of its own, which is loaded when it is needed. */
import { isInlined } from "../../inlined.js";
import { importModule } from "../../proc/platform/import-module.js";
import { locateModule, ownScheme } from "../../proc/platform/program-places.js";
import { baseRanks, type Region } from "../../shape/index.js";
import type { AttachedHosts } from "../attached/attached-hosts.js";
import type { CodePlace, CodeTree } from "../attached/hosts-code.js";
import type { SyncOptions, SyncReport } from "./sync-options.js";

export type { SyncOptions, SyncReport } from "./sync-options.js";

/** The module that brings code to hosts, as drivers and hosts load it. */
export const syncModule = `${ownScheme}sync.mjs`;

/** The exports of the module. */
export interface SyncModule {
  /**
   * Brings the code of this program to hosts, and makes it the code of later processes there.
   * @param started further files with which processes there start, those outside of the roots are ignored
   */
  syncTree(
    hosts: AttachedHosts,
    region: Region,
    options: SyncOptions,
    started?: readonly string[],
  ): Promise<{ readonly tree: CodeTree; readonly report: SyncReport }>;
}

/** Loads the module that brings code to hosts. @throws Error if this program cannot use it */
export async function loadSync(): Promise<SyncModule> {
  if (isInlined) {
    throw new Error(
      "cannot sync code: this program was bundled into one file with the runtime; copy the file to the hosts, or leave " +
        '"viceroy" out of the bundle',
    );
  }
  return (await importModule(locateModule(syncModule))) as SyncModule;
}

/** Brings the code of this program to some of the hosts that were attached together. Does nothing without hosts. */
export async function syncCode(
  attached: AttachedHosts | undefined,
  region: Region,
  options: SyncOptions,
): Promise<SyncReport> {
  if (attached === undefined) return { tree: "", files: 0, bytes: 0, hosts: [] };
  attached.checkOpen();
  return (await (await loadSync()).syncTree(attached, region, options)).report;
}

/**
 * Brings the code of a program that another process will run to the first host of a region.
 * @param started the files with which that program starts, and others, which are ignored if they are outside of the roots
 * @returns where the code is on that host
 */
export async function bringProgram(
  attached: AttachedHosts,
  region: Region,
  options: SyncOptions,
  started: readonly string[],
): Promise<CodePlace> {
  attached.checkOpen();
  const { tree } = await (await loadSync()).syncTree(attached, region, options, started);
  return tree.on(attached.hostAt([...baseRanks(region)][0]!).id);
}
