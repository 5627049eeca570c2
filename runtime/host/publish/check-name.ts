/** The names of published meshes, and the hosts on which a program publishes and looks up. */
import { describeValue } from "../../../shared/text/describe-value.js";
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { AttachedHost } from "../attached/attached-host.js";

/** The largest length of a name, in bytes of UTF-8. */
const MOST_BYTES = 255;

/** @throws {TypeError, RangeError} unless the name is a text of 1 to 255 bytes */
export function checkPublicationName(verb: string, name: unknown): asserts name is string {
  if (typeof name !== "string") throw new TypeError(`cannot ${verb}: expected a name, got ${describeValue(name)}`);
  const size = Buffer.byteLength(name);
  if (size === 0) throw new RangeError(`cannot ${verb}: expected a name of 1 to ${MOST_BYTES} bytes of UTF-8, got ""`);
  if (size > MOST_BYTES) {
    throw new RangeError(`cannot ${verb}: expected a name of 1 to ${MOST_BYTES} bytes of UTF-8, got ${size} bytes`);
  }
}

/**
 * Returns the attached hosts, when they have accepted this program. @throws Error if there is none, or one cannot be
 * attached
 */
export async function readyHosts(what: string, runtime: ProcessRuntime): Promise<readonly AttachedHost[]> {
  const hosts = [...runtime.attachedHosts.values()].filter(
    (host) => host instanceof AttachedHost && !host.isGateway,
  ) as AttachedHost[];
  if (hosts.length === 0) {
    throw new Error(`cannot ${what}: this process has attached no host; call attachHosts or hostsFromConfig first`);
  }
  await Promise.all(hosts.map(({ ready }) => ready));
  return hosts;
}
