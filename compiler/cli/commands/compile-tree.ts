/** Compiles a project once, whether or not a file has changed, and writes or checks the results. */
import { existsSync } from "node:fs";
import path from "node:path";
import type { Config } from "../../config/index.js";
import { contractFile, replaceLock } from "../../contracts/contract.js";
import { type Diagnostic, diagnostic, sortDiagnostics } from "../../diagnostics/index.js";
import type { Break } from "../../evolve/index.js";
import { emptyLock, type Lock, printLock } from "../../lock/index.js";
import { type OutputFile, planOutput, rememberTree, writeAtomically, writeOutput } from "../../output/index.js";
import type { BaseLock } from "../../pipeline/base-lock.js";
import type { CompiledOutput } from "../../pipeline/compile-project.js";
import { version } from "../../version.js";
import { exitCode, type Io } from "../io.js";
import { optimizeLate } from "../optimize-late.js";
import type { Project } from "../project.js";
import { report } from "../report.js";
import type { WireBreaks } from "../wire-breaks.js";

export interface CompileOptions {
  readonly check: boolean;
  readonly json: boolean;
  /** Whether to leave the lock as it is. Ids of new members are assigned for this run only. */
  readonly draft: boolean;
  /**
   * The ref whose ids must not vanish. Undefined means the published branch, if it can be determined. False means no
   * comparison.
   */
  readonly base?: string | false;
  /** The places whose breaking changes are accepted: `Tree.age`. */
  readonly accept?: readonly string[];
}

/** @throws ConfigError */
export async function compileTree(project: Project, options: CompileOptions, io: Io): Promise<number> {
  const accept = options.accept ?? [];
  const started = performance.now();
  optimizeLate();
  // Loaded only here, because the flags of V8 must be set before.
  const { CompileMemory, compileProject, driftDiagnostics, hasErrors } = await import("../../pipeline/index.js");
  if (options.draft) project.memory ??= new CompileMemory();
  const config = await project.config();
  const { root } = config;
  const compiled = compileProject(config, await project.source(), version, project.memory);
  const { output } = compiled;
  project.foreignTexts = compiled.foreignTexts;
  if (output === undefined) {
    report(compiled.diagnostics, root, options.json, io);
    return exitCode.schema;
  }
  const base = await readBase(config, options);
  const diagnostics = sortDiagnostics([
    ...compiled.diagnostics,
    ...(await diagnoseHistory(config, options, output, base)),
  ]);
  const { unaccepted: open, lock, complete } = await findUnacceptedBreaks(config, options, output, base);
  const files = accept.length === 0 ? output.files : withLockInContract(config, output.files, complete);
  const plan = planOutput(root, config.out, files);
  if (plan.foreign.length > 0) {
    const at = (file: string) => ({ file, line: 1, column: 1 });
    const refused = plan.foreign.map((file) => diagnostic("VC3005", at(file), { file }));
    report([...diagnostics, ...refused], root, options.json, io);
    return exitCode.usage;
  }
  if (options.check) {
    // A possible rename must be confirmed or denied before the branch is merged.
    const asked = diagnostics.map((found) =>
      found.code === "VC2007" ? { ...found, severity: "error" as const } : found,
    );
    const drift = driftDiagnostics(plan, lock.differsFromDisk ? config.lock : undefined);
    report([...asked, ...drift], root, options.json, io);
    await reportBreaks(open, "error", base, config, options, io);
    if (open.length > 0 || drift.length > 0 || hasErrors(asked)) return exitCode.drift;
    if (!options.json) io.out("Generated code and the lock are up to date.");
    return exitCode.ok;
  }
  report(diagnostics, root, options.json, io);
  await reportBreaks(open, "warning", base, config, options, io);
  writeOutput(root, plan);
  const writesLock = !options.draft && lock.differsFromDisk;
  // Without this file, the next run would report that the lock of the generated code is missing.
  const lockFile = path.join(root, config.lock);
  if (options.draft && lock.isNeeded && !existsSync(lockFile)) writeAtomically(lockFile, printLock(emptyLock));
  if (writesLock) writeAtomically(lockFile, lock.text);
  if (!options.draft && diagnostics.length === 0 && open.length === 0) {
    await rememberTree(
      config,
      version,
      output.files.map((file) => file.path),
      output.externals,
    );
  }
  if (!options.json) {
    for (const file of plan.write) io.out(`${file.isNew ? "wrote  " : "updated"} ${file.path}`);
    for (const file of plan.remove) io.out(`removed ${file}`);
    if (writesLock) io.out(`${lock.previous === undefined ? "wrote  " : "updated"} ${config.lock}`);
    const { modules } = output.schema;
    const actors = modules.reduce((sum, module) => sum + module.actors.length, 0);
    const tasks = modules.reduce((sum, module) => sum + module.tasks.length, 0);
    const functions = countText(actors, "actor") + (tasks === 0 ? "" : `, ${countText(tasks, "task")}`);
    const types = modules.reduce((sum, module) => sum + module.types.length, 0);
    const took = (performance.now() - started).toFixed(0);
    io.out(`${functions} and ${countText(types, "type")} in ${countText(modules.length, "file")}, ${took} ms`);
  }
  return exitCode.ok;
}

/** Returns the published lock, or undefined if it is unknown or equal to the lock on disk. */
export async function readBase(config: Config, { base, draft }: CompileOptions): Promise<BaseLock | undefined> {
  if (draft || base === false) return undefined;
  // Loaded only here, because a draft does not need these modules.
  const { readBaseLock } = await import("../../pipeline/base-lock.js");
  const { readIfThere } = await import("../../pipeline/project-files.js");
  return readBaseLock(config, base, readIfThere(path.join(config.root, config.lock)));
}

/**
 * Reports published ids that have vanished or belong to another member. They are errors with `--check` and warnings
 * otherwise.
 */
async function diagnoseHistory(
  config: Config,
  { check }: CompileOptions,
  { lock, declared }: CompiledOutput,
  base: BaseLock | undefined,
): Promise<readonly Diagnostic[]> {
  if (base === undefined || lock.previous === undefined) return [];
  const { historyDiagnostics } = await import("../../pipeline/base-lock.js");
  const found = historyDiagnostics(lock.previous, config.lock, base, declared);
  if (check) return found;
  // Possible renames were reported when the members changed. Only `--check` reports them again, for the reviewer.
  return found.filter(({ severity }) => severity === "error").map((lost) => ({ ...lost, severity: "warning" }));
}

/** Returns the breaking changes that are not accepted. Drafts are not compared, because they do not change the lock. */
async function findUnacceptedBreaks(
  config: Config,
  { draft, accept = [] }: CompileOptions,
  output: CompiledOutput,
  base: BaseLock | undefined,
): Promise<WireBreaks> {
  const { lock } = output;
  const isInStep = base === undefined && !lock.differsFromDisk;
  if (draft || ((isInStep || lock.previous === undefined) && accept.length === 0))
    return { unaccepted: [], lock, complete: lock.lock };
  // Loaded only here, because an up-to-date lock does not need the rules.
  const { findWireBreaks } = await import("../wire-breaks.js");
  return findWireBreaks(config, output, base, accept);
}

/** Returns the files with a lock in the contract that has the changes which this run has accepted. */
function withLockInContract({ out }: Config, files: readonly OutputFile[], lock: Lock): readonly OutputFile[] {
  return files.map((file) => {
    if (file.path !== `${out}/${contractFile}`) return file;
    return { ...file, content: replaceLock(String(file.content), printLock(lock)) };
  });
}

async function reportBreaks(
  open: readonly Break[],
  severity: "warning" | "error",
  base: BaseLock | undefined,
  { root, lock }: Config,
  { json }: CompileOptions,
  io: Io,
): Promise<void> {
  if (open.length === 0) return;
  const { toPrintedWireBreak } = await import("../wire-breaks.js");
  const { printBreaks } = await import("../print-breaks.js");
  const { readIfThere } = await import("../../pipeline/project-files.js");
  const textOf = (file: string, side: Break["side"]) =>
    side === "older" && file === lock && base !== undefined ? base.text : readIfThere(path.join(root, file));
  const printed = open.map((found) => toPrintedWireBreak(found, severity));
  printBreaks(printed, textOf, { json, root }, io);
}

function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
