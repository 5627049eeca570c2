/** Whether links between processes of one host go through shared memory: where the addon is, unless the user does not want it. */
import { type RdmaAddon, type RdmaAddonState, rdmaAddonState } from "../../../native/rdma-addon.js";

/** `socket`: never; `memory`: it is an error where it cannot be, which is for tests; by default wherever it can be. */
export const LINKS_VARIABLE = "VICEROY_LINKS";

let chosenAddon: RdmaAddon | undefined | "unknown" = "unknown";

/** What shared memory is made with; undefined: there is none. @throws Error if it was asked for and is missing */
export function sharedMemoryAddon(): RdmaAddon | undefined {
  if (chosenAddon === "unknown") chosenAddon = chooseAddon(process.env[LINKS_VARIABLE], rdmaAddonState);
  return chosenAddon;
}

/** @returns a text for people that says how processes of this host speak to each other. @param addon asked only when it matters */
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
 * Chooses by the value of the variable.
 * @param addon asked only when it matters: looking for the addon takes time
 * @throws Error if the addon was asked for and is missing, TypeError if the value is none of those allowed
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
