/**
 * The entry point of the package `@viceroy/compiler`: the commands that read schemas. The command line of the package
 * `viceroy` (command-line.ts) parses the arguments and calls these functions. Each command is loaded when it is called.
 */
import { ConfigError } from "../config/config.js";
import type { Config } from "../config/index.js";
import type { BreakOptions } from "./commands/break.js";
import type { MergeDriverArguments } from "./commands/lock-merge.js";
import { exitCode, type Io } from "./io.js";
import type { Project } from "./project.js";

/** The options of `viceroy compile`, as commander returns them. */
export interface CompileArguments {
  readonly check?: boolean;
  readonly watch?: boolean;
  readonly json?: boolean;
  /** The ref whose ids must not vanish. False means no comparison, and true that the option was not given. */
  readonly base?: string | boolean;
  readonly accept?: readonly string[];
}

/** @throws ConfigError, GitError */
export async function runCompile(options: CompileArguments, io: Io): Promise<number> {
  const { check = false, watch: watching = false, json = false, base, accept = [] } = options;
  if (watching) {
    const { watch } = await import("./commands/watch.js");
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
    return watch(process.cwd(), json, io, stop.signal);
  }
  const { compile } = await import("./commands/compile.js");
  const compared = base === undefined || base === true ? {} : { base };
  return compile(await project(), { check, json, draft: false, accept, ...compared }, io);
}

/** Returns whether the generated code is up to date, or undefined if the schemas have errors. */
export async function isInStep(): Promise<boolean | undefined> {
  const { compile } = await import("./commands/compile.js");
  const quiet = { out() {}, err() {} };
  try {
    const code = await compile(await project(), { check: true, json: true, draft: false, base: false }, quiet);
    return code === exitCode.schema ? undefined : code === exitCode.ok;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/**
 * Returns the config of the project in this folder or above it.
 * @throws ConfigError if there is none, or it is invalid
 */
export async function projectConfig(): Promise<Config> {
  const found = await project();
  return (await found.configIfUnchanged()) ?? found.config();
}

export async function runInit(folder: string, io: Io): Promise<number> {
  const { init } = await import("./commands/init.js");
  return init(folder, io);
}

/** @throws ConfigError, GitError */
export async function runBreak(options: BreakOptions, io: Io): Promise<number> {
  const { breakCommand } = await import("./commands/break.js");
  return breakCommand(await project(), options, io);
}

export async function runExplain(code: string, io: Io): Promise<number> {
  const { explain } = await import("./commands/explain.js");
  return explain(code, io);
}

/** @throws ConfigError */
export async function runRename(member: string, name: string, io: Io): Promise<number> {
  const { rename } = await import("./commands/rename.js");
  return rename(await project(), member, name, io);
}

/** @throws ConfigError */
export async function runLockMerge(io: Io): Promise<number> {
  const { mergeConflictedLock } = await import("./commands/lock-merge.js");
  return mergeConflictedLock(await project(), io);
}

export async function runMergeDriver(files: MergeDriverArguments, io: Io): Promise<number> {
  const { runMergeDriver: merge } = await import("./commands/lock-merge.js");
  return merge(files, io);
}

/** @throws ConfigError, GitError */
export async function runLockInstall(io: Io): Promise<number> {
  const { installMergeDriver } = await import("./commands/lock-install.js");
  return installMergeDriver(await project(), io);
}

async function project(): Promise<Project> {
  const { Project } = await import("./project.js");
  return new Project(process.cwd());
}
