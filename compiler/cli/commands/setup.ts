/**
 * `viceroy setup [--rdma] [--tensor]`: builds the native addons. Without options, it builds those that only need a C++
 * compiler. Viceroy runs without addons.
 */
import { spawnSync } from "node:child_process";
import type { AddonName } from "../../../native/addon-location.js";
import { buildAddon } from "../../../native/build.js";
import { describeLibtorch, findLibtorch } from "../../../native/libtorch.js";
import { exitCode, type Io } from "../io.js";

export interface SetupOptions {
  readonly rdma?: boolean;
  readonly tensor?: boolean;
}

const addons: Readonly<Record<AddonName, string>> = {
  rdma: "one-sided memory access between processes of a machine",
  tensor: "tensors with libtorch",
};
/** The tensor addon is built on request only, because libtorch takes a gigabyte. */
const byDefault: readonly AddonName[] = ["rdma"];

export async function setup(options: SetupOptions, io: Io): Promise<number> {
  const names = Object.keys(addons) as AddonName[];
  const chosen = names.filter((name) => options[name] === true);
  let code: number = exitCode.ok;
  for (const name of chosen.length > 0 ? chosen : byDefault) {
    try {
      const begin = performance.now();
      if (name === "tensor") io.out(describeLibtorch(findLibtorch()));
      const file = await buildAddon(name);
      load(file);
      io.out(`built ${name} (${addons[name]}) in ${((performance.now() - begin) / 1000).toFixed(1)} s: ${file}`);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      io.err(error.message);
      code = exitCode.drift;
    }
  }
  return code;
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
