/**
 * Reduces the declarations that tsc writes to what programs use. What no entry point exports, and no type of an exported
 * name needs, is removed: almost half. Files that entry points do not name, because they only occur in the types of others or
 * in generated code, lose their comments. Constants that are whole sentences get the type `string`.
 */
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { usedDeclarations } from "./used-declarations.mjs";

/**
 * @param folder the folder of declarations
 * @param entries the absolute paths of the declarations of the entry points
 */
export function reduceDeclarations(folder, entries) {
  const used = usedDeclarations(entries);
  removeOthers(folder, used);
  // People read the declarations of all entry points but the one that only generated code imports.
  const read = entries.filter((file) => !file.includes("/codegen/"));
  // An index names what its folder exports.
  const named = filesFrom(used, read, (file) => read.includes(file) || path.basename(file) === "index.d.ts");
  for (const [file, declarations] of used) {
    const written = declarations.replaceAll(sentences, ": string;");
    const outer = file.endsWith(diagnostics) ? written.replaceAll(innerMembers, "") : written;
    const text = operations.test(file) ? outer.replaceAll(/\bTensor\b/g, "T").replaceAll(/^ +/gm, "") : outer;
    writeFileSync(file, named.has(file) ? text : text.replace(ownLineComments, ""));
  }
}

/** The table of diagnostics, and those of its members that only the compiler reads. Programs know the codes. */
const diagnostics = path.join("diagnostics", "table.d.ts");
const innerMembers = /^ +readonly (?:slug|severity|fix): .*;\n/gm;

/** The types of constants that are sentences, such as the texts of diagnostics. No program distinguishes them. */
const sentences = /: "(?:[^"\\\n]|\\.){40,}";/g;

/**
 * The declarations of the operations of tensors: some thousand lines, which lose their indentation. Their type parameter
 * occurs as often. Editors show the type that is given for it.
 */
const operations = /\/tensor\/generated\/ops\.d\.ts$/;

const ownLineComments = /^[ \t]*\/\*\*[\s\S]*?\*\/\n/gm;

/** Returns files with the files that they import. The imports of a file are followed if `isFollowed` returns true. */
function filesFrom(texts, entries, isFollowed) {
  const reached = new Set();
  const visit = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    if (isFollowed(file)) importsOf(file, texts.get(file)).forEach(visit);
  };
  entries.forEach(visit);
  return reached;
}

/** Returns the files of `from "…"`, `import "…"` and `import("…")` with relative specifiers. */
function importsOf(file, declarations) {
  // Examples in comments import files, too.
  const text = declarations.replace(/\/\*[\s\S]*?\*\//g, "");
  return [...text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)"(\.{1,2}\/[^"]+)"/g)].map(([, specifier]) =>
    path.resolve(path.dirname(file), specifier.replace(/\.js$/, ".d.ts")),
  );
}

/** Removes all files but `kept`, and the folders that are empty then. */
function removeOthers(folder, kept) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) removeOthers(file, kept);
    else if (!kept.has(file)) rmSync(file);
  }
  if (readdirSync(folder).length === 0) rmSync(folder, { recursive: true });
}
