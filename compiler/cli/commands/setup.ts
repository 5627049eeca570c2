/**
 * `viceroy setup [--rdma] [--tensor] [--stack] [--force]`: builds the native addons. Without options, it builds those that only need
 * a C++ compiler. An addon that an optional package contains is not built. Viceroy runs without addons. With that for
 * tensors, it builds the one for stacks, which makes it faster; a machine without the headers of Node.js does without it. With
 * `--stack`, it builds that one alone, after a change of Node.js.
 */
import { spawnSync } from "node:child_process";
import type { AddonName } from "../../../native/addon-location.js";
import { buildAddon } from "../../../native/build.js";
import { describeLibtorch, findLibtorch } from "../../../native/libtorch.js";
import { findPrebuiltAddon, prebuiltPackage } from "../../../native/prebuilt-addon.js";
import { version } from "../../version.js";
import { exitCode, type Io } from "../io.js";

export interface SetupOptions {
  readonly rdma?: boolean;
  readonly tensor?: boolean;
  readonly stack?: boolean;
  /** Whether an addon is built although a package contains it. */
  readonly force?: boolean;
}

const addons: Readonly<Record<AddonName, string>> = {
  rdma: "one-sided memory access between processes of a machine",
  stack: "the place in the program of each operation of a mesh",
  tensor: "tensors with libtorch",
};
/** The tensor addon is built on request only, because libtorch takes a gigabyte. */
const byDefault: readonly AddonName[] = ["rdma"];

export async function setup(options: SetupOptions, io: Io): Promise<number> {
  const names = Object.keys(addons) as AddonName[];
  const chosen = names.filter((name) => options[name] === true);
  let code: number = exitCode.ok;
  for (const name of chosen.length > 0 ? chosen : byDefault) {
    const prebuilt = options.force === true ? undefined : findPrebuiltAddon(name, import.meta.url);
    if (prebuilt !== undefined && "file" in prebuilt) {
      io.out(`nothing to do for ${name} (${addons[name]}): ${prebuilt.file} is used; --force builds another one`);
      continue;
    }
    try {
      if (name === "tensor") io.out(describeLibtorch(findLibtorch()));
      await build(name, io);
      if (name === "tensor" && !chosen.includes("stack")) await buildStackAddon(io);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      io.err(error.message + instead(name));
      code = exitCode.drift;
    }
  }
  return code;
}

async function build(name: AddonName, io: Io): Promise<void> {
  const begin = performance.now();
  const file = await buildAddon(name);
  load(file);
  io.out(`built ${name} (${addons[name]}) in ${((performance.now() - begin) / 1000).toFixed(1)} s: ${file}`);
}

/** Builds the addon that finds places in the program faster. Without it, tensors work as well. */
async function buildStackAddon(io: Io): Promise<void> {
  try {
    await build("stack", io);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    io.out(`left out stack (${addons.stack}), so that operations of meshes take twice as long: ${error.message}`);
  }
}

/** Returns what a user can do who cannot build the addon. */
function instead(name: AddonName): string {
  const wanted = name === "rdma" ? prebuiltPackage() : undefined;
  return wanted === undefined ? "" : `\nWithout a compiler: npm install ${wanted}@${version}`;
}

/**
 * Loads the addon in a child process, because a broken addon can end the process.
 * @throws Error with the error output of Node.js
 */
function load(file: string): void {
  const { status, stderr } = spawnSync(process.execPath, ["-e", "require(process.argv[1])", file], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`cannot load the new ${file}: ${stderr.trimEnd()}`);
}
