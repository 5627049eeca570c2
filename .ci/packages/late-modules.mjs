/**
 * Modules of the runtime that the code of every process refers to, and that few processes use. Their text is in the script of the rest. The
 * script of the core has a stand-in for each of their functions and classes, which loads the rest when it is first called (decision 237).
 */
import { readFileSync } from "node:fs";
import path from "node:path";

/** The paths of the modules from the root of the checkout. */
const lateModules = [
  "runtime/actor/call/map/map-call.ts",
  "runtime/actor/cell/create-cast-sender.ts",
  "runtime/actor/schema/compare-schemas.ts",
  "runtime/actor/schema/state-schema.ts",
  "runtime/proc/agent/moved-actor.ts",
  "runtime/proc/launch/launch-process.ts",
  "runtime/proc/remote/host-watch.ts",
  "runtime/wire/protobuf/describe-schema.ts",
];

const namespace = "late";

/** A line of both scripts: the function that stand-ins call. */
export const lateModuleFunction = 'const lateModule = (file) => require("./load.cjs").loadRest().late[file]; ';

/** Lines of the entry point of the rest, which export the modules to the stand-ins. */
export const lateModuleExports = [
  ...lateModules.map((file, i) => `import * as late${i} from "./${file}";`),
  `export const late = { ${lateModules.map((file, i) => `"${file}": late${i}`).join(", ")} };`,
];

/** Returns whether a file of a bundle is a stand-in. */
export function isStandIn(file) {
  return file.startsWith(`${namespace}:`);
}

/**
 * Makes the plugin of esbuild that replaces the modules, except in the entry point of the rest.
 *
 * @param entryNamespace the namespace of this entry point
 */
export function lateModulesPlugin(root, entryNamespace) {
  return {
    name: "late modules",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\./ }, ({ kind, path: specifier, resolveDir, namespace: importer }) => {
        if (kind !== "import-statement" || importer === entryNamespace) return undefined;
        const file = path.relative(root, path.resolve(resolveDir, specifier)).replace(/\.js$/, ".ts");
        return lateModules.includes(file) ? { path: file, namespace } : undefined;
      });
      onLoad({ filter: /.*/, namespace }, ({ path: file }) => ({ contents: standIn(root, file) }));
    },
  };
}

/** Refuses modules that do more with a late class than to create its objects: all of them get the stand-in. */
export function refuseOtherUses(root, files) {
  const classes = lateModules.flatMap((file) => exportsOf(root, file)).filter(({ kind }) => kind === "class");
  const uses = new RegExp(classes.map(({ name }) => `\\b(?:extends|instanceof) ${name}\\b|\\b${name}\\.\\w`).join("|"));
  for (const file of files) {
    const found = uses.exec(readFileSync(path.join(root, file), "utf8"))?.[0];
    if (found !== undefined)
      throw new Error(`cannot bundle the runtime: expected late classes only after "new", got "${found}" in ${file}`);
  }
}

function standIn(root, file) {
  return exportsOf(root, file)
    .map(({ kind, name }) => {
      const late = `lateModule("${file}").${name}`;
      return `export function ${name}(...args) { return ${kind === "class" ? `new (${late})` : late}(...args); }`;
    })
    .join("\n");
}

/** Returns the functions and classes that a module exports. */
function exportsOf(root, file) {
  const lines = readFileSync(path.join(root, file), "utf8").matchAll(/^export (?!type |interface )(.*)$/gm);
  return [...lines].map(([line, text]) => {
    const [, kind, name] = /^(?:async )?(function|class) (\w+)/.exec(text) ?? [];
    if (name === undefined)
      throw new Error(`cannot bundle the runtime: expected functions and classes, got "${line}" in ${file}`);
    return { kind, name };
  });
}
