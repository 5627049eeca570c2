/**
 * The lists of equivalent mutants in `.ci/mutate/equivalent/`. An entry contains the file, the trimmed text of the line,
 * optionally the replacement, and the reason. Run as a script, this module fails if an entry names a file or a line that
 * does not exist: `node .ci/mutate/equivalent-mutants.mjs [--tree <folder>]`. It uses Node.js only, without any package.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { root } from "../steps.mjs";

const listsIn = (tree) => path.join(tree, ".ci/mutate/equivalent");

/** Returns the equivalent mutants of a folder such as `runtime/wire`. */
export function equivalentMutants(folder) {
  const list = path.join(listsIn(root), `${folder.replaceAll("/", "-")}.json`);
  return existsSync(list) ? readList(list) : [];
}

/**
 * Returns one line for each entry whose file or line does not exist.
 *
 * @param tree the checkout that contains the lists and the sources
 */
export function staleEntries(tree = root) {
  const linesOf = new Map();
  return readdirSync(listsIn(tree)).flatMap((name) =>
    readList(path.join(listsIn(tree), name)).flatMap(({ file, line }) => {
      if (!linesOf.has(file)) linesOf.set(file, trimmedLines(path.join(tree, file)));
      const lines = linesOf.get(file);
      const why = lines === undefined ? "there is no such file" : lines.has(line) ? undefined : "there is no such line";
      return why === undefined ? [] : [`cannot use an entry of ${name}: ${why}, got ${file}: ${line}`];
    }),
  );
}

function readList(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

function trimmedLines(file) {
  if (!existsSync(file)) return undefined;
  return new Set(
    readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.trim()),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { tree: { type: "string" } } });
  const stale = staleEntries(values.tree);
  for (const entry of stale) console.error(entry);
  if (stale.length > 0)
    console.error("Read the line as it is now and correct the entry, or delete it if its code is gone.");
  process.exitCode = stale.length > 0 ? 1 : 0;
}
