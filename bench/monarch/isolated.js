/** Runs commands in namespaces of their own, because Ray listens on all addresses and leaves processes behind when it is killed. */
import { spawnSync } from "node:child_process";

/**
 * The shell waits a moment after the command: processes that end in that time count as those of the subject, while processes that the end of
 * the namespace kills would count as foreign load.
 */
const script = 'ip link set lo up && "$@"; code=$?; sleep 0.5; exit $code';
const namespaces = ["--map-root-user", "--net", "--pid", "--mount-proc", "--fork", "--kill-child"];
/** Maximum duration in seconds, also when no process is left that could end the command. */
const limit = ["timeout", "--foreground", "--signal=KILL", "170"];
const prefix = [...limit, "unshare", ...namespaces, "sh", "-c", script, "sh"];

let checked = false;

/**
 * Returns the command that runs `command` with no network except loopback. When the command ends or the run is killed, every process that it has
 * started is killed.
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
