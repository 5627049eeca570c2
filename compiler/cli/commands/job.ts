/**
 * `viceroy job <command> --job <module>`: what a user does with a job from the command line. The command runs in a
 * process of its own, which loads the module as `viceroy run` does.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../../config/index.js";
import { exitCode, type Io } from "../io.js";
import { nodeFlags, runProgram } from "./run.js";

export interface JobOptions {
  /** The file of the module. */
  readonly job: string;
  /** The name of its export. */
  readonly export: string;
  readonly json?: boolean;
  readonly follow?: boolean;
  readonly watch?: boolean;
  readonly readOnly?: boolean;
  readonly detach?: boolean;
  readonly mesh?: string;
  readonly rank?: number;
  readonly exclude?: readonly string[];
  readonly root?: readonly string[];
  readonly procs?: number;
  readonly gpusPerProc?: number;
  readonly maxRestarts?: number;
}

/** The program in the built package, for the commands that load a job. */
export const jobProgram = fileURLToPath(new URL("../job-command.js", import.meta.url));

/**
 * @param words the program and the arguments that the command gets
 * @param config undefined if the module is outside of any project
 */
export async function job(
  command: string,
  options: JobOptions,
  words: readonly string[],
  config: Config | undefined,
  io: Io,
): Promise<number> {
  const file = path.resolve(options.job);
  if (!existsSync(file)) {
    io.err(`cannot use ${options.job}: no such file`);
    return exitCode.usage;
  }
  const flags = nodeFlags(file, config);
  if (typeof flags === "string") {
    io.err(flags);
    return exitCode.usage;
  }
  const {
    json = false,
    follow = false,
    watch = false,
    readOnly = false,
    detach = false,
    mesh,
    rank,
    procs,
    gpusPerProc,
    maxRestarts,
    exclude,
    root,
  } = options;
  const given = {
    json,
    follow,
    watch,
    readOnly,
    detach,
    command: words,
    mesh,
    rank,
    procs,
    gpusPerProc,
    maxRestarts,
    exclude,
    root,
  };
  return runProgram(process.execPath, [...flags, jobProgram, command, file, options.export, JSON.stringify(given)]);
}

/** `viceroy job list`, which needs no module. */
export function listJobs({ json = false }: { readonly json?: boolean }): Promise<number> {
  return runProgram(process.execPath, [jobProgram, "list", "", "", JSON.stringify({ json })]);
}
