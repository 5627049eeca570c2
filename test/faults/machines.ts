/**
 * A network of simulated machines: network namespaces of the kernel, each with its own interface, connected by a bridge
 * in another namespace. The kernel causes the faults: it loses, delays, drops and refuses packets. Needs root, `ip` and,
 * for the faults, `nft`.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { afterAll } from "vitest";
import { peer } from "../peers.js";
import { gone } from "../proc/until.js";

function run(file: string, args: readonly string[], input?: string): string {
  return execFileSync(file, args, { encoding: "utf8", stdio: ["pipe", "pipe", "pipe"], ...(input ? { input } : {}) });
}

let networksMade = 0;

export class Machine {
  readonly name: string;
  readonly ip: string;
  readonly #space: string;

  constructor(name: string, space: string, ip: string) {
    this.name = name;
    this.#space = space;
    this.ip = ip;
  }

  /** The command prefix that runs a program on the machine. */
  get through(): string[] {
    return ["ip", "netns", "exec", this.#space];
  }

  run(file: string, ...args: string[]): string {
    return run("ip", ["netns", "exec", this.#space, file, ...args]);
  }

  /** Returns the processes on the machine that have not ended. */
  get pids(): number[] {
    return run("ip", ["netns", "pids", this.#space])
      .split("\n")
      .filter((line) => line !== "")
      .map(Number)
      .filter((pid) => !gone(pid));
  }

  /** The number of bytes that have arrived from other machines. */
  get receivedBytes(): number {
    return Number(this.run("cat", "/sys/class/net/eth0/statistics/rx_bytes"));
  }

  /** The number of bytes that were sent to other machines. */
  get sentBytes(): number {
    return Number(this.run("cat", "/sys/class/net/eth0/statistics/tx_bytes"));
  }

  /** Sends a signal to all processes on the machine. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    for (const pid of this.pids) process.kill(pid, signal);
  }

  /** Loses a percentage of the packets, in each direction. */
  lose(percent: number): void {
    this.#rules(["in", "out"], `numgen random mod 100 < ${percent} drop`);
  }

  /** Drops the packets from another machine. Packets to that machine arrive. */
  dropFrom({ ip }: Machine): void {
    this.#rules(["in"], `ip saddr ${ip} drop`);
  }

  /** Reaches itself and one other machine, and nothing else. */
  reachOnly({ ip }: Machine): void {
    const both = `{ ${ip}, ${this.ip}, 127.0.0.1 }`;
    this.#rules(["in", "out"], `ip saddr ${both} ip daddr ${both} accept\n drop`);
  }

  dropTo({ ip }: Machine): void {
    this.#rules(["out"], `ip daddr ${ip} drop`);
  }

  /** Refuses connections to another machine. */
  rejectTo({ ip }: Machine): void {
    this.#rules(["out"], `ip daddr ${ip} tcp flags & (syn | ack) == syn reject with tcp reset`);
  }

  /** Drops all packets. */
  isolate(): void {
    this.#rules(["in", "out"], "drop");
  }

  /** Ends all connections, and refuses new ones. */
  refuse(): void {
    this.#rules(["in"], "meta l4proto tcp reject with tcp reset");
  }

  /** Ends all connections. New ones can be opened. */
  reset(): void {
    this.run("ss", "-K", "state", "established");
  }

  /**
   * Delays sent packets: by a fixed time if the kernel supports it, and otherwise by a small bandwidth.
   */
  delay(): void {
    const discipline = ["qdisc", "replace", "dev", "eth0", "root"];
    const fixed = spawnSync("ip", [
      "netns",
      "exec",
      this.#space,
      "tc",
      ...discipline,
      "netem",
      "delay",
      "40ms",
      "20ms",
    ]);
    if (fixed.status === 0) return;
    this.run("tc", ...discipline, "tbf", "rate", "16mbit", "burst", "16kb", "latency", "400ms");
  }

  /** Removes all faults. */
  heal(): void {
    this.run(peer("nft")!, "flush", "ruleset");
    spawnSync("ip", ["netns", "exec", this.#space, "tc", "qdisc", "del", "dev", "eth0", "root"]);
    // The kernel caches unreachable neighbours for a while.
    this.run("ip", "neigh", "flush", "all");
  }

  #rules(ways: readonly ("in" | "out")[], rule: string): void {
    const chains = ways.map((way) => {
      const hook = way === "in" ? "input" : "output";
      return `chain ${way} {\n type filter hook ${hook} priority 0\n ${rule}\n}\n`;
    });
    run("ip", [...["netns", "exec", this.#space], peer("nft")!, "-f", "-"], `table ip faults {\n${chains.join("")}}\n`);
  }
}

/** Sends a signal to a process, which may have ended meanwhile. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as { code?: string }).code !== "ESRCH") throw error;
  }
}

/**
 * Creates connected machines.
 * @param atEnd calls a function when the machines are not needed any more: after all tests of this file
 */
export function makeNetwork<const N extends readonly string[]>(
  names: N,
  atEnd: (end: () => void) => void = afterAll,
): { readonly [K in N[number]]: Machine } {
  const prefix = `viceroy-${process.pid}-${++networksMade}`;
  const hub = `${prefix}-hub`;
  const spaces = [hub, ...names.map((name) => `${prefix}-${name}`)];
  const made: Machine[] = [];
  atEnd(() => {
    // A failed test may have left stopped processes.
    for (const machine of made) for (const pid of machine.pids) kill(pid);
    for (const space of spaces) spawnSync("ip", ["netns", "del", space]);
  });
  for (const space of spaces) run("ip", ["netns", "add", space]);
  run("ip", ["-n", hub, "link", "add", "bridge", "type", "bridge"]);
  run("ip", ["-n", hub, "link", "set", "bridge", "up"]);
  const machines = names.map((name, i) => {
    const space = `${prefix}-${name}`;
    const address = `10.213.0.${i + 1}`;
    run("ip", ["-n", hub, "link", "add", `port${i}`, "type", "veth", "peer", "name", "eth0", "netns", space]);
    run("ip", ["-n", hub, "link", "set", `port${i}`, "master", "bridge", "up"]);
    run("ip", ["-n", space, "addr", "add", `${address}/24`, "dev", "eth0"]);
    for (const device of ["lo", "eth0"]) run("ip", ["-n", space, "link", "set", device, "up"]);
    const machine = new Machine(name, space, address);
    made.push(machine);
    return [name, machine];
  });
  return Object.fromEntries(machines) as { readonly [K in N[number]]: Machine };
}
