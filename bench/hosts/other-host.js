/** The machine on which servers run: a network namespace behind a virtual wire, or this machine. */
import { execFileSync } from "node:child_process";

/**
 * @returns {{ name: string, address: string, through: readonly string[], cut?: () => void, remove: () => void }} `address`:
 *   of the machine; `through`: a command prefix that runs a command there; `cut`: drops all packets
 */
export function otherHost() {
  const space = `viceroy-bench-${process.pid}`;
  const wire = `vb${process.pid}`;
  const subnet = `10.214.${process.pid % 256}`;
  try {
    ip("netns", "add", space);
  } catch {
    return { name: "over loopback (no network namespaces here)", address: "127.0.0.1", through: [], remove() {} };
  }
  ip("link", "add", wire, "type", "veth", "peer", "name", "eth0", "netns", space);
  ip("addr", "add", `${subnet}.1/30`, "dev", wire);
  ip("link", "set", wire, "up");
  ip("-n", space, "addr", "add", `${subnet}.2/30`, "dev", "eth0");
  ip("-n", space, "link", "set", "eth0", "up");
  ip("-n", space, "link", "set", "lo", "up");
  return {
    name: "between two network namespaces",
    address: `${subnet}.2`,
    through: ["ip", "netns", "exec", space],
    /** Drops all packets, without any error to either side. */
    cut: () => ip("-n", space, "link", "set", "eth0", "down"),
    remove() {
      // Removes the wire explicitly: a namespace exists until its last process has ended.
      ip("link", "del", wire);
      ip("netns", "del", space);
    },
  };
}

function ip(...args) {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });
}
