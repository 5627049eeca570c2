/** Machines for benchmarks: network namespaces with links of a limited rate. Needs root, `ip` and `tc`. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";

/** The rate of each link in each direction, and what it lets through at once. */
export interface LinkShape {
  /** As `tc` takes it: `50mbit`. */
  readonly rate: string;
  /**
   * As `tc` takes it. The kernel cuts what is larger than a burst into single packets: network cards do that for real hosts, and here it
   * would take more of the processors than all hosts together.
   */
  readonly burst: string;
}

export class ShapedMachines {
  readonly #name: string;
  readonly #bridge: string;
  readonly #shape: LinkShape;
  readonly #spaces: string[] = [];
  readonly #children: ChildProcess[] = [];
  #count = 0;

  constructor(name: string, shape: LinkShape) {
    this.#name = name;
    this.#shape = shape;
    this.#bridge = `${name}-br`;
    this.#addSpace(this.#bridge);
    ip("-n", this.#bridge, "link", "add", "br0", "type", "bridge");
    ip("-n", this.#bridge, "link", "set", "br0", "up");
  }

  /** Adds a machine, and returns its network namespace and its address. */
  add(): { readonly space: string; readonly ip: string } {
    const index = this.#count++;
    const space = `${this.#name}-${index}`;
    const address = `10.77.0.${index + 1}`;
    this.#addSpace(space);
    ip("link", "add", "eth0", "netns", space, "type", "veth", "peer", "name", `p${index}`, "netns", this.#bridge);
    ip("-n", space, "addr", "add", `${address}/24`, "dev", "eth0");
    for (const device of ["lo", "eth0"]) ip("-n", space, "link", "set", device, "up");
    ip("-n", this.#bridge, "link", "set", `p${index}`, "master", "br0", "up");
    const { rate, burst } = this.#shape;
    for (const [where, device] of [
      [space, "eth0"],
      [this.#bridge, `p${index}`],
    ] as const) {
      const shape = ["qdisc", "add", "dev", device, "root", "tbf", "rate", rate, "burst", burst, "latency", "100ms"];
      execFileSync("ip", ["netns", "exec", where, "tc", ...shape]);
    }
    return { space, ip: address };
  }

  #addSpace(space: string): void {
    ip("netns", "add", space);
    this.#spaces.push(space);
  }

  /** Starts a command on a machine. */
  start(space: string, env: object, ...command: string[]): ChildProcess {
    const child = spawn("ip", ["netns", "exec", space, ...command], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#children.push(child);
    return child;
  }

  /** Starts a command on a machine, prints its lines of JSON, and returns them when it has ended. Rejects if it fails. */
  async run(space: string, env: object, ...command: string[]): Promise<unknown[]> {
    const child = this.start(space, env, ...command);
    let text = "";
    child.stdout?.on("data", (part) => {
      text += part;
      process.stdout.write(part);
    });
    const code = await new Promise((resolve) => child.once("close", resolve));
    if (code !== 0) throw new Error(`the driver has ended with code ${code}`);
    return text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  }

  /** Ends all processes, and removes the machines. */
  async remove(): Promise<void> {
    for (const child of this.#children) child.kill("SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (const space of this.#spaces) ip("netns", "del", space);
  }
}

/** Resolves with the output in which a process says where it listens. */
export function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.on("data", (text) => {
      if (String(text).includes("listens at")) resolve(String(text));
    });
    child.once("close", () => reject(new Error("a host has ended")));
  });
}

export function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[values.length >> 1] as number;
}

function ip(...args: string[]): void {
  execFileSync("ip", args);
}
