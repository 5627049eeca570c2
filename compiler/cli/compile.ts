/** `viceroy compile [--check] [--json]`: one run over a project. */
import { existsSync } from "node:fs";
import path from "node:path";
import { type Config, ConfigError } from "../config/index.js";
import { type Diagnostic, diagnostic, sortDiagnostics } from "../diagnostics/index.js";
import { emptyLock, parseLock, printLock } from "../lock/index.js";
import type { Schema } from "../model/index.js";
import { planOutput, rememberTree, writeOutput, writeWhole } from "../output/index.js";
import { exitCode, type Io } from "./io.js";
import type { Project } from "./project.js";
import { report } from "./report.js";
import { optimizeLate } from "./tiers.js";
import { version } from "./version.js";

export interface CompileOptions {
  readonly check: boolean;
  readonly json: boolean;
  /** Keeps the lock as it is: ids of what is new are given, and not kept. */
  readonly draft: boolean;
  /** The ref whose ids must not vanish. Undefined: what is published, if that can be told; false: none. */
  readonly base?: string | false;
}

/** @throws ConfigError unless diagnostics are asked for as JSON, of which it is then one */
export async function compile(project: Project, options: CompileOptions, io: Io): Promise<number> {
  try {
    return await compileOnce(project, options, io);
  } catch (error) {
    if (!(error instanceof ConfigError) || !options.json) throw error;
    const at = { file: path.basename(project.configFile), line: 1, column: 1 };
    const found = error.message.split("\n").map((message) => diagnostic("VC4001", at, { message }));
    report(found, path.dirname(project.configFile), true, io);
    return exitCode.usage;
  }
}

async function compileOnce(project: Project, options: CompileOptions, io: Io): Promise<number> {
  const unchanged = options.draft ? undefined : project.unchanged();
  // What the lock is compared with may have changed all the same; what to say of that, the schemas know.
  const isSettled = !options.check || (unchanged && (await sinceBase(unchanged, options, undefined)).length === 0);
  if (unchanged !== undefined && isSettled) {
    if (!options.json) io.out("Nothing to do: generated code is in step.");
    return exitCode.ok;
  }
  const started = performance.now();
  optimizeLate();
  // Imported here: an unchanged tree needs none of it.
  const { CompileMemory, compileProject, driftDiagnostics, hasErrors } = await import("../pipeline/index.js");
  if (options.draft) project.memory ??= new CompileMemory();
  const config = await project.config();
  const { root } = config;
  const compiled = compileProject(config, await project.source(), version, project.memory);
  const { output } = compiled;
  if (output === undefined) {
    report(compiled.diagnostics, root, options.json, io);
    return exitCode.schema;
  }
  const found = [...compiled.diagnostics, ...(await sinceBase(config, options, output.declared))];
  const diagnostics = sortDiagnostics(found);
  const plan = planOutput(root, config.out, output.files);
  if (plan.foreign.length > 0) {
    const at = (file: string) => ({ file, line: 1, column: 1 });
    const refused = plan.foreign.map((file) => diagnostic("VC3005", at(file), { file }));
    report([...diagnostics, ...refused], root, options.json, io);
    return exitCode.usage;
  }
  if (options.check) {
    // What may be a rename is a question that somebody has to answer before it is merged.
    const asked = diagnostics.map((found) =>
      found.code === "VC2007" ? { ...found, severity: "error" as const } : found,
    );
    const drift = driftDiagnostics(plan, output.lock.differs ? config.lock : undefined);
    report([...asked, ...drift], root, options.json, io);
    // A lock in step remembers what the schemas say: there is nothing to break, and nothing to load for it.
    const isWhole =
      !output.lock.differs || (await import("./check-lock.js")).checkLock(config, output, options.json, io);
    if (!isWhole || drift.length > 0 || hasErrors(asked)) return exitCode.drift;
    if (!options.json) io.out("In step: generated code and lock are what the schemas say.");
    return exitCode.ok;
  }
  report(diagnostics, root, options.json, io);
  writeOutput(root, plan);
  const writesLock = !options.draft && output.lock.differs;
  // Drafts beside no lock at all would pass for generated code whose lock has been lost.
  const lockFile = path.join(root, config.lock);
  if (options.draft && !existsSync(lockFile)) writeWhole(lockFile, printLock(emptyLock));
  if (writesLock) writeWhole(lockFile, output.lock.text);
  if (!options.draft && diagnostics.length === 0 && (writesLock || !output.lock.differs)) {
    rememberTree(
      config,
      version,
      output.files.map((file) => file.path),
    );
  }
  if (!options.json) {
    for (const file of plan.write) io.out(`${file.isNew ? "wrote  " : "updated"} ${file.path}`);
    for (const file of plan.remove) io.out(`removed ${file}`);
    if (writesLock) io.out(`updated ${config.lock}`);
    const { modules } = output.schema;
    const actors = modules.reduce((sum, module) => sum + module.actors.length, 0);
    const types = modules.reduce((sum, module) => sum + module.types.length, 0);
    const took = (performance.now() - started).toFixed(0);
    io.out(
      `${counted(actors, "actor")} and ${counted(types, "type")} in ${counted(modules.length, "file")}, ${took} ms`,
    );
  }
  return exitCode.ok;
}

/** What has become of ids that others use. Lost ones are a warning, until they are checked. */
async function sinceBase(
  config: Config,
  { base, check, draft }: CompileOptions,
  declared: Schema | undefined,
): Promise<readonly Diagnostic[]> {
  if (draft || base === false) return [];
  // Imported here: an unchanged tree needs none of it.
  const { historyDiagnostics, readBaseLock } = await import("../pipeline/history.js");
  const { readIfThere } = await import("../pipeline/project.js");
  const text = readIfThere(path.join(config.root, config.lock));
  const known = readBaseLock(config, base, text);
  if (known === undefined || text === undefined) return [];
  const { lock } = parseLock(config.lock, text);
  const found = historyDiagnostics(lock, config.lock, known, declared);
  if (check) return found;
  // What has been replaced was asked about when it was: the question belongs to whoever reviews it.
  return found.filter(({ severity }) => severity === "error").map((lost) => ({ ...lost, severity: "warning" }));
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
