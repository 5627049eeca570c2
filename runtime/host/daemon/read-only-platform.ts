/**
 * The platform of the session of a read-only driver. Whatever such a driver sends to its agent, its session starts no process
 * and connects to nothing: besides requests, a link understands frames that ask for connections to further processes.
 */
import type { ScopedPlatform } from "../../proc/platform/platform.js";

const refuse = (): Promise<never> =>
  Promise.reject(new Error("the session of a read-only driver makes no connections"));

/** Takes the ability to reach anything from the platform of one session, and returns the platform. */
export function withoutReach(platform: ScopedPlatform): ScopedPlatform {
  return Object.assign(platform, {
    dial: refuse,
    connect: refuse,
    connectSocket: refuse,
    connectVia: refuse,
    secure: refuse,
    listen: refuse,
    listenAt: refuse,
    start: () => {
      throw new Error("the session of a read-only driver starts no process");
    },
  });
}
