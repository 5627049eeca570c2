/** Commands in namespaces of their own: Ray listens on all addresses, and leaves processes behind when it is killed. */
import { spawnSync } from "node:child_process";

const script = 'ip link set lo up && "$@"; code=$?; exit $code';
const namespaces = ["--map-root-user", "--net", "--pid", "--mount-proc", "--fork", "--kill-child"];
/** Nothing runs for longer than so many seconds, even if nobody is left to end it. */
const limit = ["timeout", "--foreground", "--signal=KILL", "170"];
const prefix = [...limit, "unshare", ...namespaces, "sh", "-c", script, "sh"];

let checked = false;

/**
 * The command that runs `command` where there is no network but loopback. When it ends, or the run is killed, so is
 * every process that it has started.
 *
 * @param {readonly string[]} command
 */
export function isolated(command) {
  if (!checked) {
    const { error, status, stderr } = spawnSync(prefix[0], [...prefix.slice(1), "true"], { encoding: "utf8" });
    if (status !== 0) {
      const why = (error?.message ?? stderr.trim()) || `status ${status}`;
      throw new Error(
        `cannot isolate a system: it takes namespaces, unshare (util-linux) and ip (iproute2), got ${why}`,
      );
    }
    checked = true;
  }
  return [...prefix, ...command];
}
