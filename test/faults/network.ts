/**
 * A network of machines: namespaces of the kernel, each with an interface of its own, joined by a bridge in one more. What goes
 * wrong there is done by the kernel: packets are lost, delayed, dropped one way, refused. Takes root, `ip`, and `nft`.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { afterAll } from "vitest";
import { peer } from "../peers.js";
import { permitted } from "../permitted.js";
import { gone } from "../proc/until.js";

function run(file: string, args: readonly string[], input?: string): string {
  return execFileSync(file, args, { encoding: "utf8", stdio: ["pipe", "pipe", "pipe"], ...(input ? { input } : {}) });
}

/** Namespaces take root, a system that has them, and permission to make them. */
function hasNetworks(): boolean {
  const name = `viceroy-try-${process.pid}`;
  if (spawnSync("ip", ["netns", "add", name]).status !== 0) return false;
  const filter = peer("nft");
  const filters = filter !== undefined && spawnSync("ip", ["netns", "exec", name, filter, "list", "ruleset"]);
  run("ip", ["netns", "del", name]);
  return filters !== false && filters.status === 0;
}

export const networks = permitted(
  "real faults of networks",
  "root, `ip` with network namespaces, and nft",
  hasNetworks(),
);

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

  /** A command to run others there. */
  get through(): string[] {
    return ["ip", "netns", "exec", this.#space];
  }

  run(file: string, ...args: string[]): string {
    return run("ip", ["netns", "exec", this.#space, file, ...args]);
  }

  /** Processes there that have not ended. */
  get pids(): number[] {
    return run("ip", ["netns", "pids", this.#space])
      .split("\n")
      .filter((line) => line !== "")
      .map(Number)
      .filter((pid) => !gone(pid));
  }

  /** All processes there. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    for (const pid of this.pids) process.kill(pid, signal);
  }

  /** So many of a hundred packets are lost, each way. */
  lose(percent: number): void {
    this.#rules(["in", "out"], `numgen random mod 100 < ${percent} drop`);
  }

  /** What comes from another machine vanishes here; what goes there gets there. */
  dropFrom({ ip }: Machine): void {
    this.#rules(["in"], `ip saddr ${ip} drop`);
  }

  dropTo({ ip }: Machine): void {
    this.#rules(["out"], `ip daddr ${ip} drop`);
  }

  /** Nothing comes or goes. */
  isolate(): void {
    this.#rules(["in", "out"], "drop");
  }

  /** Connections end, and cannot be made. */
  refuse(): void {
    this.#rules(["in"], "meta l4proto tcp reject with tcp reset");
  }

  /** Connections end, and can be made again. */
  reset(): void {
    this.run("ss", "-K", "state", "established");
  }

  /**
   * What leaves comes late: by a fixed time where the kernel can do that, else behind what a narrow road lets through.
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

  /** All is well again. */
  heal(): void {
    this.run(peer("nft")!, "flush", "ruleset");
    spawnSync("ip", ["netns", "exec", this.#space, "tc", "qdisc", "del", "dev", "eth0", "root"]);
    // The kernel remembers for a while that nobody was there.
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

/** It may have ended since it was looked for. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as { code?: string }).code !== "ESRCH") throw error;
  }
}

/** Machines that reach each other, until all tests of this file are over. */
export function makeNetwork<const N extends readonly string[]>(names: N): { readonly [K in N[number]]: Machine } {
  const prefix = `viceroy-${process.pid}-${++networksMade}`;
  const hub = `${prefix}-hub`;
  const spaces = [hub, ...names.map((name) => `${prefix}-${name}`)];
  const made: Machine[] = [];
  afterAll(() => {
    // A test that failed may have left what it has stopped.
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
