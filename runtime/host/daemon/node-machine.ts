/** The real machine of a host. */
import { OrphanReaper } from "../../proc/launch/orphan-reaper.js";
import { freePort } from "./free-port.js";
import { runCommand } from "./run-command.js";
import type { Machine } from "./session-commands.js";

/** Returns this machine. Commands that it executes end with this process, also if the process is killed. */
export function makeMachine(): Machine {
  const reaper = new OrphanReaper();
  return { execute: (order, signal) => runCommand(order, signal, reaper), freePort };
}
