/**
 * `viceroy compile [--check] [--json]`: compiles a project once, unless no file has changed. An unchanged tree is the
 * most frequent case, so this file loads only what finds that out, and everything else on demand.
 */
import path from "node:path";
import { ConfigError } from "../../config/config.js";
import { exitCode, type Io, nothingToDo } from "../io.js";
import type { Project } from "../project.js";
import type { CompileOptions } from "./compile-tree.js";

export type { CompileOptions };

/** @throws ConfigError unless the output is JSON, which then contains the error as a diagnostic */
export async function compile(project: Project, options: CompileOptions, io: Io): Promise<number> {
  try {
    if (await isUnchanged(project, options)) {
      if (!options.json) io.out(nothingToDo);
      return exitCode.ok;
    }
    const { compileTree } = await import("./compile-tree.js");
    return await compileTree(project, options, io);
  } catch (error) {
    if (!(error instanceof ConfigError) || !options.json) throw error;
    const { diagnostic } = await import("../../diagnostics/index.js");
    const { report } = await import("../report.js");
    const at = { file: path.basename(project.configFile), line: 1, column: 1 };
    const found = error.message.split("\n").map((message) => diagnostic("VC4001", at, { message }));
    report(found, path.dirname(project.configFile), true, io);
    return exitCode.usage;
  }
}

/** Returns whether the last run has compiled the tree as it is now. */
async function isUnchanged(project: Project, options: CompileOptions): Promise<boolean> {
  const { accept = [], base, check, draft } = options;
  if (draft || accept.length > 0) return false;
  // `--check` writes no files.
  const config = await project.configIfUnchanged({ refresh: !check });
  if (config === undefined) return false;
  // The published lock can change without a change in this tree.
  if (!check && typeof base !== "string") return true;
  const { readBase } = await import("./compile-tree.js");
  return (await readBase(config, options)) === undefined;
}
