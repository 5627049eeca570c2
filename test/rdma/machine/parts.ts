/** Finds the parts of the virtual machine, which `.ci/machine.mjs` takes from packages of Debian. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = path.join(root, ".peers/machine");

export interface Parts {
  /** The folder of the unpacked packages. The machine overlays it on the files of the host. */
  readonly folder: string;
  readonly kernel: string;
  readonly busybox: Uint8Array;
  readonly emulator: string;
  /** The search paths of the libraries and modules of the emulator. The system provides the others. */
  readonly environment: Readonly<Record<string, string>>;
  readonly firmware: readonly string[];
  /** Returns the code of kernel modules, each after the modules that it needs. */
  modules(names: readonly string[]): readonly { readonly name: string; readonly code: Uint8Array }[];
}

/**
 * Returns the parts, or undefined if the machine is not installed.
 * @throws Error instead of returning undefined if VICEROY_PEERS is "required" and this system supports the machine
 */
export function machineParts(): Parts | undefined {
  if (existsSync(path.join(folder, "ready.json"))) return partsIn(folder);
  const possible = process.platform === "linux" && process.arch === "x64";
  if (process.env["VICEROY_PEERS"] !== "required" || !possible) return undefined;
  throw new Error(
    `cannot find the virtual machine that tests of RDMA need: expected it in ${folder}. Run \`npm run peers\``,
  );
}

function partsIn(folder: string): Parts {
  const needs = JSON.parse(readFileSync(path.join(folder, "kernel/needs.json"), "utf8")) as Record<string, string[]>;
  const libraries = path.join(folder, "usr/lib/x86_64-linux-gnu");
  return {
    folder,
    kernel: path.join(folder, "kernel/vmlinux"),
    busybox: readFileSync(program(folder, "busybox")),
    emulator: program(folder, "qemu-system-x86_64"),
    environment: { LD_LIBRARY_PATH: libraries, QEMU_MODULE_DIR: path.join(libraries, "qemu") },
    firmware: ["qemu", "seabios"]
      .map((name) => path.join(folder, "usr/share", name))
      .filter((place) => existsSync(place)),
    modules: (names) =>
      inOrder(names, needs).map((name) => ({
        name,
        code: readFileSync(path.join(folder, "kernel/modules", `${name}.ko`)),
      })),
  };
}

function program(folder: string, name: string): string {
  const folders = (process.env["PATH"] ?? "").split(path.delimiter).filter((entry) => entry !== "");
  const places = [path.join(folder, "usr/bin"), path.join(folder, "usr/sbin"), ...folders, "/bin", "/sbin"];
  const found = places.map((place) => path.join(place, name)).find((file) => existsSync(file));
  if (found === undefined) throw new Error(`cannot find ${name}: expected it in ${folder} or on the PATH`);
  return found;
}

function inOrder(names: readonly string[], needs: Readonly<Record<string, readonly string[]>>): readonly string[] {
  const ordered = new Set<string>();
  const add = (name: string): void => {
    for (const needed of needs[name] ?? []) add(needed);
    ordered.add(name);
  };
  for (const name of names) add(name);
  return [...ordered];
}
