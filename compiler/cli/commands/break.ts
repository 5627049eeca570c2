/**
 * `viceroy break --against <git ref | folder>`: lists the changes since another version that break programs or stored
 * data. It writes no files.
 */
import path from "node:path";
import { type Config, ConfigError, type IgnoredBreak } from "../../config/index.js";
import { type Diagnostic, diagnostic, renderDiagnostic, renderJson, renderSummary } from "../../diagnostics/index.js";
import { applyIgnores, type BreakClass, breakClasses, findBreaks, unusedIgnore } from "../../evolve/index.js";
import { isAccepted } from "../../pipeline/accepted-breaks.js";
import { packageName, readIfThere, readSchemaTexts } from "../../pipeline/index.js";
import { readSchemaState } from "../../pipeline/schema-state.js";
import { type Snapshot, snapshotText, takeSnapshot } from "../../pipeline/snapshot.js";
import { openTypeSource } from "../../source/index.js";
import { exitCode, type Io } from "../io.js";
import { type PrintedBreak, printBreaks, toPrintedBreak } from "../print-breaks.js";
import type { Project } from "../project.js";
import { report } from "../report.js";

export interface BreakOptions {
  /** The path of a folder that contains a project, or a git ref. */
  readonly against: string;
  readonly json: boolean;
  /** The classes to report, separated by commas. Undefined means all classes. */
  readonly classes: string | undefined;
}

/** @throws ConfigError unless the output is JSON, which then contains the error as a finding */
export async function breakCommand(project: Project, options: BreakOptions, io: Io): Promise<number> {
  try {
    return await compareWithSnapshot(project, options, io);
  } catch (error) {
    if (!(error instanceof ConfigError) || !options.json) throw error;
    const at = { file: path.basename(project.configFile), line: 1, column: 1 };
    const found = error.message.split("\n").map((message) => diagnostic("VC4001", at, { message }));
    report(found, path.dirname(project.configFile), true, io);
    return exitCode.usage;
  }
}

async function compareWithSnapshot(
  project: Project,
  { against, json, classes }: BreakOptions,
  io: Io,
): Promise<number> {
  const wanted = parseBreakClasses(classes);
  const config = await project.config();
  const source = await project.source();
  const snapshot = takeSnapshot(against, config, (file, text) => source.transpile(file, text));
  const { texts, diagnostics } = readSchemaTexts(config);
  const lock = readIfThere(path.join(config.root, config.lock));
  const newer = readSchemaState(config, packageName(config), texts, lock, source, diagnostics);
  if (newer.state === undefined) {
    report(newer.diagnostics, config.root, json, io);
    return exitCode.schema;
  }
  const past = openTypeSource({ exists: (file) => snapshot.exists(file) });
  const older = readSchemaState(
    snapshot.config,
    snapshot.package,
    snapshot.schemas,
    snapshot.lock,
    past,
    snapshot.diagnostics,
    snapshot.foreign?.read,
  );
  if (older.state === undefined) {
    if (!json) io.err(`cannot compare with ${snapshot.name}: its schemas have errors`);
    printSnapshotDiagnostics(older.diagnostics, snapshot, json, io);
    return exitCode.schema;
  }
  const { breaks, unused } = applyIgnores(findBreaks(older.state, newer.state), config.break.ignore);
  const { foreign } = snapshot;
  for (const { package: name, file } of older.contracts ?? []) {
    if (json || foreign === undefined || foreign.has(file)) continue;
    io.err(`The types of ${name} are compared as they are now, because ${snapshot.name} has no contract of ${name}.`);
  }
  // The lock of another package has the accepted changes of its types.
  const agreed = [newer.state.lock, ...(newer.importedLocks?.values() ?? [])];
  const shown = breaks.filter(
    (found) => wanted.includes(found.class) && !agreed.some((lock) => isAccepted(found, lock)),
  );
  const textOf = (file: string, side: "older" | "newer") =>
    side === "older" ? snapshotText(snapshot, file) : readIfThere(path.join(config.root, file));
  printBreaks(
    [...shown.map(toPrintedBreak), ...unused.map((entry) => unusedIgnoreFinding(entry, config))],
    textOf,
    { json, root: config.root },
    io,
  );
  if (shown.some((found) => found.class !== "DANGEROUS")) return exitCode.drift;
  if (!json && shown.length === 0) io.out(`No breaking changes against ${snapshot.name}.`);
  return exitCode.ok;
}

function parseBreakClasses(text: string | undefined): readonly BreakClass[] {
  if (text === undefined) return breakClasses;
  return text.split(",").map((name) => {
    const found = breakClasses.find((known) => known === name.trim().toUpperCase());
    if (found !== undefined) return found;
    throw new ConfigError(
      `cannot look for breaks: unknown class "${name}", expected ${breakClasses.join(", ")}, or several separated by commas`,
    );
  });
}

/**
 * Returns the warning about an entry of `break.ignore` that matches no change. Such an entry would hide the next change
 * at that place.
 */
function unusedIgnoreFinding({ code, place }: IgnoredBreak, config: Config): PrintedBreak {
  const lines = (readIfThere(path.join(config.root, config.file)) ?? "").split("\n");
  const line = lines.findIndex((text) => text.includes(place)) + 1;
  return {
    code: unusedIgnore.code,
    severity: "warning",
    place,
    at: { file: config.file, line: Math.max(line, 1), column: 1 },
    side: "newer",
    text: `{ code: "${code}", place: "${place}" } ignores nothing: there is no such breaking change`,
    fix: "Remove it from `break.ignore`.",
  };
}

function printSnapshotDiagnostics(diagnostics: readonly Diagnostic[], snapshot: Snapshot, json: boolean, io: Io): void {
  if (json) {
    for (const one of diagnostics) io.out(renderJson(one));
    return;
  }
  const textOf = (file: string) => snapshotText(snapshot, file);
  for (const one of diagnostics) io.err(renderDiagnostic(one, { color: false, textOf }));
  io.err(renderSummary(diagnostics));
}
