/** The real machine of a host. */
import { statSync } from "node:fs";
import type { SeenFile } from "../../../generated/host-agent.js";
import { OrphanReaper } from "../../proc/launch/orphan-reaper.js";
import { freePort } from "./free-port.js";
import { runCommand } from "./run-command.js";
import type { Machine } from "./session-commands.js";

/** Returns this machine. Commands that it executes end with this process, also if the process is killed. */
export function makeMachine(): Machine {
  const reaper = new OrphanReaper();
  return { execute: (order, signal) => runCommand(order, signal, reaper), freePort, hasFile };
}

/**
 * Returns what identifies a file or a folder on a file system that several machines share; undefined if there is none. That files are
 * added to a folder does not change it.
 */
export function lookAtFile(path: string): SeenFile | undefined {
  try {
    const seen = statSync(path, { bigint: true });
    const { size, mtimeNs } = seen.isDirectory() ? { size: 0n, mtimeNs: 0n } : seen;
    return { path, inode: seen.ino, size, modified: mtimeNs };
  } catch {
    return undefined;
  }
}

function hasFile({ path, inode, size, modified }: SeenFile): boolean {
  const seen = lookAtFile(path);
  return seen !== undefined && seen.inode === inode && seen.size === size && seen.modified === modified;
}
