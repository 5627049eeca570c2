/** Chooses how the memory of the processes of a host is limited. */
import { openControlGroups } from "./control-groups.js";
import { MemoryGroups } from "./memory-groups.js";
import type { MemoryGuard } from "./memory-guard.js";
import { MemoryWatch } from "./memory-watch.js";

/** Returns a guard that uses control groups if this process may create some, and watches the use of memory otherwise. */
export function makeMemoryGuard(): MemoryGuard {
  const groups = openControlGroups();
  return groups === undefined ? new MemoryWatch() : new MemoryGroups(groups);
}
