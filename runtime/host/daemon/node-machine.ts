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

/** Returns what identifies a file on a file system that several machines share; undefined if there is none. */
export function lookAtFile(path: string): SeenFile | undefined {
  try {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true });
    return { path, inode: ino, size, modified: mtimeNs };
  } catch {
    return undefined;
  }
}

function hasFile({ path, inode, size, modified }: SeenFile): boolean {
  const seen = lookAtFile(path);
  return seen !== undefined && seen.inode === inode && seen.size === size && seen.modified === modified;
}
