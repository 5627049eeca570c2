/**
 * Mutation testing: `npm run mutate -- runtime/cast compiler/lock`. Stryker changes one expression at a time, and a test
 * of the folder must fail. `--changed` mutates the lines that changed since the published commit instead of whole folders.
 *
 * A folder passes if at least 90 % of its mutants are killed. Mutants that no test can kill, because they do not change
 * the behaviour, are listed with the reason in `.ci/mutate/equivalent/` and are not counted. An entry whose line no longer
 * exists is an error. Every survivor is printed, because it needs a test.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { equivalentMutants, staleEntries } from "./mutate/equivalent-mutants.mjs";
import { folders } from "./mutate/folders.mjs";
import { install, root, run } from "./steps.mjs";

const wantedScore = 90;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { changed: { type: "boolean", default: false }, concurrency: { type: "string", default: "2" } },
});

function add(patterns, folder, pattern) {
  patterns[folder] ??= [];
  patterns[folder].push(pattern);
}

/** Returns the lines that have changed since the published commit, as Stryker's ranges `file:first-last`, by folder. */
function changedRanges() {
  const base = spawnSync("git", ["merge-base", "HEAD", "origin/HEAD"], { cwd: root, encoding: "utf8" });
  const since = base.status === 0 ? base.stdout.trim() : "HEAD~1";
  const { stdout } = spawnSync("git", ["diff", "--unified=0", "--no-renames", since, "--", ...Object.keys(folders)], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const ranges = {};
  let file;
  for (const line of stdout.split("\n")) {
    if (line.startsWith("+++ ")) file = line.endsWith(".ts") ? line.slice("+++ b/".length) : undefined;
    const hunk = /^@@ \S+ \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk === null || file === undefined) continue;
    const [first, count] = [Number(hunk[1]), Number(hunk[2] ?? 1)];
    const folder = Object.keys(folders).find((name) => file.startsWith(`${name}/`));
    if (count > 0) add(ranges, folder, `${file}:${first}-${first + count - 1}`);
  }
  return ranges;
}

/** Returns the patterns that Stryker mutates, by the folder whose tests are run. */
function targets() {
  if (values.changed) return changedRanges();
  const wanted = {};
  for (const place of positionals) {
    const folder = Object.keys(folders).find((name) => place === name || place.startsWith(`${name}/`));
    if (folder === undefined || !existsSync(path.join(root, place))) {
      console.error(
        `cannot mutate ${place}: expected a folder or a file below one of ${Object.keys(folders).join(", ")}`,
      );
      process.exit(3);
    }
    add(wanted, folder, place.endsWith(".ts") ? place : `${place}/**/*.ts`);
  }
  return wanted;
}

/** Returns Stryker's report on the mutants of a folder, or undefined if Stryker has failed. The failure is printed. */
async function mutate(folder, patterns) {
  const work = mkdtempSync(path.join(tmpdir(), "viceroy-mutants-"));
  try {
    const report = path.join(work, "report.json");
    const config = path.join(work, "stryker.json");
    writeFileSync(
      config,
      JSON.stringify({
        testRunner: "bundled",
        plugins: [path.join(root, ".ci/mutate/runner.mjs")],
        mutate: patterns,
        coverageAnalysis: "perTest",
        concurrency: Number(values.concurrency),
        reporters: ["json", "progress-append-only"],
        jsonReporter: { fileName: report },
        tempDirName: ".viceroy/mutants",
        disableTypeChecks: false,
        ignorePatterns: [
          ".peers",
          "bench",
          "docs",
          "examples",
          ".viceroy",
          ".ci/node",
          ".ci/node-arm64",
          ".ci/mutate/node_modules",
        ],
        // Source files keep their paths in the copy, so no tsconfig needs to change.
        tsconfigFile: "none.json",
        allowEmpty: true,
        timeoutMS: 5_000,
      }),
    );
    const tests = folders[folder].map((place) => (place.endsWith(".ts") ? place : `${place}/**/*.test.ts`));
    const stryker = path.join(root, ".ci/mutate/node_modules/@stryker-mutator/core/bin/stryker.js");
    const code = await run(process.execPath, [stryker, "run", config], {
      env: { VICEROY_MUTATION_TESTS: JSON.stringify(tests) },
    });
    if (code === 0 && existsSync(report)) return JSON.parse(readFileSync(report, "utf8"));
    console.error(`cannot mutate ${folder}: Stryker ended with code ${code}`);
    return undefined;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Returns whether a mutant is listed as equivalent, by its file, the text of its line and the replacement. */
function isEquivalent(equivalent, { file, line, replacement }) {
  return equivalent.some(
    (entry) => entry.file === file && entry.line === line && (entry.replacement ?? replacement) === replacement,
  );
}

/**
 * Prints the survivors and the score of one folder.
 * @returns whether it passes
 */
function judge(folder, report) {
  const equivalent = equivalentMutants(folder);
  const counts = { killed: 0, survived: 0, equivalent: 0 };
  for (const [file, { source, mutants }] of Object.entries(report.files)) {
    const lines = source.split("\n");
    for (const { status, location, replacement } of mutants) {
      const mutant = { file, line: lines[location.start.line - 1].trim(), replacement };
      if (status === "Killed" || status === "Timeout" || status === "RuntimeError") counts.killed++;
      else if (status !== "Survived" && status !== "NoCoverage") continue;
      else if (isEquivalent(equivalent, mutant)) counts.equivalent++;
      else {
        counts.survived++;
        console.log(`${file}:${location.start.line}:${location.start.column} ${status}`);
        console.log(`  ${mutant.line}\n  -> ${replacement?.replaceAll("\n", " ").slice(0, 160)}`);
      }
    }
  }
  const counted = counts.killed + counts.survived;
  const score = counted === 0 ? 100 : (100 * counts.killed) / counted;
  console.log(
    `${folder}: ${counts.killed} killed, ${counts.survived} survived, ${counts.equivalent} equivalent: ${score.toFixed(1)} %`,
  );
  return score >= wantedScore;
}

const wanted = targets();
if (!values.changed && positionals.length === 0) {
  console.error(`cannot mutate nothing: name folders of ${Object.keys(folders).join(", ")}, or --changed`);
  process.exit(3);
}
const stale = staleEntries();
for (const entry of stale) console.error(entry);
if (stale.length > 0) process.exit(3);
if ((await install(".ci/mutate", ["--legacy-peer-deps"])) !== 0) process.exit(1);
mkdirSync(path.join(root, ".viceroy"), { recursive: true });
let failed = 0;
for (const [folder, patterns] of Object.entries(wanted)) {
  const report = await mutate(folder, patterns);
  if (report === undefined || !judge(folder, report)) failed++;
}
process.exit(failed === 0 ? 0 : 1);
