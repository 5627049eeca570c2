/** A driver on its own machine, as the test that has started it uses it. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import { until } from "../proc/until.js";
import type { DriverLine, DriverOrder } from "./driver.js";
import type { Machine } from "./network.js";

const file = fileURLToPath(new URL("./driver.ts", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

type Line<K extends DriverLine["kind"]> = Extract<DriverLine, { kind: K }>;

const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
});

export class Program {
  readonly child: ChildProcess;
  readonly lines: DriverLine[] = [];
  readonly exited: Promise<number | null>;

  constructor(machine: Machine, order: DriverOrder) {
    const [ip, ...rest] = [...machine.through, process.execPath, "--import", "tsx", file, JSON.stringify(order)];
    const child = spawn(ip!, rest, { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
    this.child = child;
    running.add(child);
    createInterface(child.stdout).on("line", (line) => void this.lines.push(JSON.parse(line) as DriverLine));
    this.exited = new Promise((resolve) => child.once("exit", (code) => resolve(code)));
  }

  of<K extends DriverLine["kind"]>(kind: K): Line<K>[] {
    return this.lines.filter((line): line is Line<K> => line.kind === kind);
  }

  async started(): Promise<Line<"ready">> {
    await until(() => this.of("ready").length > 0 || this.child.exitCode !== null, 60_000);
    return this.of("ready")[0]!;
  }

  /** Ends the load. Resolves when all started operations have ended. */
  async check(): Promise<Line<"checked">> {
    const before = this.of("checked").length;
    this.child.stdin!.write("check\n");
    await until(() => this.of("checked").length > before || this.of("broken").length > 0, 60_000);
    const broken = this.of("broken").map(({ text }) => text);
    if (broken.length > 0) throw new Error(broken.join("\n"));
    return this.of("checked").at(-1)!;
  }

  go(): void {
    this.child.stdin!.write("go\n");
  }

  async end(): Promise<number | null> {
    this.child.stdin!.write("end\n");
    return this.exited;
  }
}
