/** Loads what speaks WebSocket, which is a module of its own: few programs and few hosts need it. */
import { isInlined } from "../inlined.js";
import { importModule } from "../proc/platform/import-module.js";
import { locateModule, ownScheme } from "../proc/platform/program-places.js";

type WebSockets = typeof import("../link/transport/websocket/index.js");

/** @throws Error if this program cannot load it */
export async function loadWebSockets(): Promise<WebSockets> {
  if (isInlined) {
    throw new Error(
      'cannot load what speaks WebSocket: this program was bundled into one file with the runtime; leave "viceroy" out of the bundle',
    );
  }
  return (await importModule(locateModule(`${ownScheme}websocket.mjs`))) as WebSockets;
}
