/** Commands in namespaces of their own: Ray listens on all addresses, and leaves processes behind when it is killed. */
import { spawnSync } from "node:child_process";

/**
 * The shell waits a moment after the command: processes that end then are counted as the subject's, while those that the
 * end of the namespace kills would be taken for foreign load.
 */
const script = 'ip link set lo up && "$@"; code=$?; sleep 0.5; exit $code';
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
