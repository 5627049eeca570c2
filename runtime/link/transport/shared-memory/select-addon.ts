/**
 * Decides whether links between processes of one host use shared memory: where the addon is available, unless the user
 * disables it.
 */
import { type RdmaAddon, type RdmaAddonState, rdmaAddonState } from "../../../native/rdma-addon.js";

/**
 * The environment variable: with `socket`, shared memory is never used; with `memory`, which is for tests, missing
 * support is an error. By default shared memory is used wherever possible.
 */
export const LINKS_VARIABLE = "VICEROY_LINKS";

let chosenAddon: RdmaAddon | undefined | "unknown" = "unknown";

/**
 * Returns the addon that provides shared memory, or undefined if there is none.
 * @throws Error if shared memory is required and missing
 */
export function sharedMemoryAddon(): RdmaAddon | undefined {
  if (chosenAddon === "unknown") chosenAddon = chooseAddon(process.env[LINKS_VARIABLE], rdmaAddonState);
  return chosenAddon;
}

/**
 * Describes how processes of this host communicate, as text for users.
 * @param addon called only if the answer depends on it
 */
export function describeLinkTransport(
  wanted = process.env[LINKS_VARIABLE],
  addon: () => RdmaAddonState = rdmaAddonState,
): string {
  if (wanted === "socket") return `Unix sockets (${LINKS_VARIABLE} is "socket")`;
  const state = addon();
  if (state.addon === undefined) return `Unix sockets: shared memory needs the addon, and ${state.why}`;
  return "shared memory, beside Unix sockets";
}

/**
 * Chooses the transport by the value of the environment variable.
 * @param addon called only if the answer depends on it, because looking for the addon takes time
 * @throws Error if the addon is required and missing; TypeError if the value is invalid
 */
export function chooseAddon(wanted: string | undefined, addon: () => RdmaAddonState): RdmaAddon | undefined {
  if (wanted === "socket") return undefined;
  const state = addon();
  if (wanted === undefined || wanted === "") return state.addon;
  if (wanted !== "memory") {
    throw new TypeError(`cannot use ${LINKS_VARIABLE}: expected "socket", "memory" or nothing, got "${wanted}"`);
  }
  if (state.addon !== undefined) return state.addon;
  throw new Error(
    `cannot link processes by shared memory, as ${LINKS_VARIABLE} asks: that needs the addon, and ${state.why}; ` +
      "run `npx viceroy setup --rdma` to build it",
  );
}
