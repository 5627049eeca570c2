/** Hosts on machines of their own: each has a network, and process ids, that the others do not see. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { type Machine, makeNetwork } from "../../faults/machines.js";
import { listening, spawnHost } from "../../host/host-process.js";

const tasksProgram = fileURLToPath(new URL("programs/driver.ts", import.meta.url));
const token = "a token of more than enough characters";
/** Processes of another machine cannot be found by their ids. */
const apart = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];

/** A driver, and its hosts. */
export interface Cluster {
  readonly driver: Machine;
  readonly hosts: readonly Machine[];
  /** Calls a function of the program of the driver. One call at a time, unless `begin` is used. */
  call(name: string, ...args: unknown[]): Promise<unknown>;
}

/**
 * Starts hosts, and a program that uses them. They end after the tests of the file.
 *
 * @param program the program of the driver, whose arguments are the addresses of the hosts. It serves calls
 */
export async function startCluster(count: number, program = tasksProgram): Promise<Cluster> {
  const names = Array.from({ length: count }, (_, i) => `host${i}`);
  const net = makeNetwork(["driver", ...names]);
  const { driver } = net as Record<string, Machine>;
  const hosts = names.map((name) => (net as Record<string, Machine>)[name]!);
  const env = { VICEROY_TOKEN: token };
  const daemons = await Promise.all(
    hosts.map((host) => {
      const folder = mkdtempSync(path.join(tmpdir(), "viceroy-objects-"));
      afterAll(() => rmSync(folder, { recursive: true, force: true }));
      const listen = ["--listen", `tcp://${host.ip}:26600`];
      return listening(spawnHost(folder, listen, env, [...host.through, ...apart]));
    }),
  );
  const [file, ...through] = [...driver!.through, process.execPath, "--import", "tsx", program];
  const child: ChildProcess = spawn(file!, [...through, ...daemons.map(({ address }) => address)], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  afterAll(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const call = async (name: string, ...args: unknown[]) => {
    child.stdin!.write(`${JSON.stringify([name, ...args])}\n`);
    const { value, done } = await lines.next();
    if (done === true) throw new Error("the driver has ended");
    const answer = JSON.parse(value) as { value?: unknown; error?: string };
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.value;
  };
  return { driver: driver!, hosts, call };
}

/** Returns the number of bytes that each machine receives while `body` runs. */
export async function received(machines: readonly Machine[], body: () => Promise<unknown>): Promise<number[]> {
  const before = machines.map((machine) => machine.receivedBytes);
  await body();
  return machines.map((machine, i) => machine.receivedBytes - before[i]!);
}

/** Returns the number of bytes of the large values in the memory of a machine, each of which counts once. */
export function storedBytes(machine: Machine): number {
  const sizes = new Map<number, number>();
  for (const pid of machine.pids) {
    for (const { ino, size } of openFiles(pid)) sizes.set(ino, size);
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

/** Returns the processes of a machine that have a value of at least `bytes` bytes, complete or not. */
export function holders(machine: Machine, bytes: number): number[] {
  return machine.pids.filter((pid) => openFiles(pid).some(({ size }) => size >= bytes));
}

function openFiles(pid: number): { readonly ino: number; readonly size: number }[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).flatMap((file) => {
      if (readlinkSync(`${folder}/${file}`) !== "/memfd:viceroy (deleted)") return [];
      const { ino, size } = statSync(`${folder}/${file}`);
      // Channels and records are small.
      return size < 2 ** 22 ? [] : [{ ino, size }];
    });
  } catch {
    // The process has ended, or the file was closed.
    return [];
  }
}
