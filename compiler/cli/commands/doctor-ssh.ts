/**
 * `viceroy doctor --ssh <host>`: checks whether jobs can run on hosts that `ssh` reaches. The checks are those of a program
 * in the built package, which loads the module of a job as `viceroy run` does.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../../config/index.js";
import { exitCode, type Io } from "../io.js";
import { nodeFlags, runProgram } from "./run.js";

export interface DoctorSshOptions {
  /** The hosts; empty for those of the job. */
  readonly ssh: readonly string[];
  /** The file of the module of a job. */
  readonly job?: string;
  /** The name of its export. */
  readonly export: string;
  readonly json?: boolean;
}

const program = fileURLToPath(new URL("../job-ssh-doctor.js", import.meta.url));

/** @param config undefined outside of any project */
export async function doctorSsh(options: DoctorSshOptions, config: Config | undefined, io: Io): Promise<number> {
  const { ssh: hosts, job, export: name, json = false } = options;
  const file = job === undefined ? undefined : path.resolve(job);
  if (file !== undefined && !existsSync(file)) {
    io.err(`cannot use ${job}: no such file`);
    return exitCode.usage;
  }
  const flags = file === undefined ? [] : nodeFlags(file, config);
  if (typeof flags === "string") {
    io.err(flags);
    return exitCode.usage;
  }
  return runProgram(process.execPath, [...flags, program, JSON.stringify({ hosts, job: file, export: name, json })]);
}
