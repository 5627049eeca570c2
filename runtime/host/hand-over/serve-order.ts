/** The order to a controller to spawn an actor in its own process and to publish it. */
import type { ClassReference } from "../../../generated/proc-agent.js";
import { decodeState, encodeState, type HandedHosts } from "./hand-over.js";

export interface ServeOrder {
  /** The name by which the actor is published. */
  readonly name: string;
  /** The hosts that the controller attaches. */
  readonly hosts: HandedHosts;
  /** The URL of the module that makes the process understand TypeScript; absent if it needs none. */
  readonly loader?: string;
  readonly actor: ClassReference;
  /** The encoded arguments of the constructor. */
  readonly args: Uint8Array;
}

export function encodeServeOrder(order: ServeOrder): string {
  return encodeState(order);
}

/** @throws Error if another version has written the text */
export function decodeServeOrder(text: string): ServeOrder {
  return decodeState(text);
}
