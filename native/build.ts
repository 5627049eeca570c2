/**
 * Builds an addon with g++ only. All its files form one compilation unit, which takes seconds, since the headers are
 * most of the work. The build needs no gyp, no Python and no headers of Node.js except those of Node-API, which are an
 * npm package. Only the tensor addon is linked to a library that the user has installed (libtorch.ts), and only the stack
 * addon needs further headers of Node.js (node-headers.ts).
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type AddonName, addonFile } from "./addon-location.js";
import { provideSources } from "./build-sources.js";
import { findLibtorch, libtorchFlags } from "./libtorch.js";
import { findNodeHeaders } from "./node-headers.js";
import { addonDefinitions, addonLinking } from "./source-key.js";

export interface BuildOptions {
  /** The compiler. The default is the environment variable CXX, or g++. */
  readonly compiler?: string;
  /** Further arguments of the compiler, such as those of sanitizers. */
  readonly flags?: readonly string[];
  /** The path of the output. The default is the path from which the addon is loaded. */
  readonly file?: string;
}

/**
 * @returns the path of the built file; it replaces an earlier file atomically, so that other processes load either the
 * old or the new one
 * @throws Error with the output of the compiler, or with the missing package
 */
export async function buildAddon(name: AddonName, options: BuildOptions = {}): Promise<string> {
  const { compile: headers, link } = flagsOf(name);
  const file = options.file ?? addonFile(name);
  const folder = path.dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const work = mkdtempSync(path.join(folder, ".build-"));
  try {
    const sources = provideSources(name, work);
    const unit = path.join(work, "unit.cc");
    writeFileSync(unit, sources.files.map((source) => `#include ${JSON.stringify(source)}\n`).join(""));
    const built = path.join(work, "addon.node");
    await runCompiler(options.compiler ?? (process.env["CXX"] || "g++"), [
      ...headers,
      "-O2",
      "-fPIC",
      "-shared",
      ...addonLinking,
      "-Wall",
      "-Wextra",
      ...addonDefinitions.map((definition) => `-D${definition}`),
      ...sources.includes.map((include) => `-isystem${include}`),
      `-I${sources.folder}`,
      `-I${path.dirname(sources.folder)}`,
      ...(options.flags ?? []),
      unit,
      "-o",
      built,
      ...link,
      "-ldl",
    ]);
    renameSync(built, file);
    return file;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Returns the standard of C++ and the external headers and libraries of an addon. */
function flagsOf(name: AddonName): { readonly compile: readonly string[]; readonly link: readonly string[] } {
  if (name === "tensor") return libtorchFlags(findLibtorch());
  if (name === "stack") return { compile: ["-std=c++20", `-isystem${findNodeHeaders()}`], link: [] };
  return { compile: ["-std=c++17"], link: [] };
}

function runCompiler(compiler: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(compiler, args, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (data) => {
      output += data;
    });
    child.stderr.on("data", (data) => {
      output += data;
    });
    child.once("error", (error: NodeJS.ErrnoException) => {
      const advice =
        error.code === "ENOENT" ? ": install g++ (package g++ of Debian), or set CXX to another compiler" : "";
      reject(new Error(`cannot build the addon: cannot run ${compiler}, ${error.message}${advice}`));
    });
    child.once("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`cannot build the addon: ${compiler} ended with code ${code}\n${output.trimEnd()}`));
    });
  });
}
