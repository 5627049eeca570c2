/** Writes the modules of a program as the texts of files in one folder. */
import { basename } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { fnv1aText } from "../../../shared/hash/fnv1a.js";
import { chunksOf } from "../../sync/tree/chunks.js";
import { digestOf } from "../../sync/tree/digest.js";
import { CannotPrepare, type GraphModule, type ModuleGraph } from "./module-graph.js";
import { descriptionName, type PortableProgram } from "./portable-program.js";
import { requiredPrefix } from "./program.js";
import { type Locate, rewriteCommonJs, rewriteModule } from "./rewrite-module.js";
import { relativeToPrepared, type TreeLayout } from "./tree-layout.js";

export interface WrittenModules {
  /** The texts of all files, by their names. */
  readonly texts: ReadonlyMap<string, string>;
  /** The names of the files of modules, by the keys of the modules. */
  readonly names: Readonly<Record<string, string>>;
}

/** Returns the URL by which the files in the folder name a file of this machine. Throws if there is none. */
type Place = (url: string) => string;

/**
 * @param tree the tree of which the folder will be a part; undefined if the folder stays on this machine
 * @throws CannotPrepare if the tree does not contain a module of the program
 */
export function writeModules(graph: ModuleGraph, tree: TreeLayout | undefined): WrittenModules {
  const place: Place = (url) => (tree === undefined ? url : placeInTree(tree, url));
  const modules = new Map(graph.prepared().map((module) => [module.key, { module, name: nameOf(module, place) }]));
  const texts = new Map<string, string>();
  const imports = new Set<string>();
  for (const { module, name } of modules.values()) {
    const { code, targets, required, url } = module;
    const locate: Locate = ({ specifier, hasAttributes, isDynamic }) => {
      const target = specifier === undefined ? undefined : targets.get(specifier);
      if (target === undefined) return undefined;
      // Imports with attributes are of JSON files, which Node.js loads as they are.
      const prepared = hasAttributes ? undefined : modules.get(target);
      if (prepared !== undefined) return `./${prepared.name}`;
      if (!target.startsWith("file:")) return target;
      if (isDynamic && tree !== undefined && relativeToPrepared(tree, target) === undefined) return undefined;
      const placed = place(target);
      imports.add(placed);
      return placed;
    };
    const files = [...(required ?? [])].map(([specifier, key]) => [specifier, `./${modules.get(key)!.name}`]);
    const { code: rewritten, map } =
      required === undefined
        ? rewriteModule(code, name, locate)
        : rewriteCommonJs(code, name, locate, Object.fromEntries(files) as Record<string, string>);
    // Newer versions of Node.js read a map in a file of its own when a stack trace needs it.
    texts.set(name, map === undefined ? rewritten : `${rewritten}\n//# sourceMappingURL=${name}.map\n`);
    if (map === undefined) continue;
    // Node.js takes the sources of a map relative to the file of the map.
    texts.set(`${name}.map`, JSON.stringify(tree === undefined ? map : { ...map, sources: [place(url)] }));
  }
  const names = new Map([...modules].map(([key, { name }]) => [key, name]));
  if (tree !== undefined) texts.set(descriptionName, JSON.stringify(describe(graph, tree, { names, imports })));
  return { texts, names: Object.fromEntries(names) };
}

function placeInTree(tree: TreeLayout, url: string): string {
  const placed = relativeToPrepared(tree, url);
  if (placed === undefined) throw new CannotPrepare(`the tree does not contain ${url}`);
  return placed;
}

/** Returns the name of the file of a module. It stays the same when other modules change. */
function nameOf({ key, url, required }: GraphModule, place: Place): string {
  const extension = required === undefined ? "mjs" : "cjs";
  const readable = basename(fileURLToPath(url)).replace(/[^\w.-]/g, "_");
  return `${fnv1aText(key.replace(url, place(url)))}-${readable}.${extension}`;
}

function describe(
  { contents, absent, config }: ModuleGraph,
  tree: TreeLayout,
  { names, imports }: { readonly names: ReadonlyMap<string, string>; readonly imports: ReadonlySet<string> },
): PortableProgram {
  const inTree = (path: string) => relativeToPrepared(tree, pathToFileURL(path).href);
  const keyOf = (key: string) => {
    const url = key.replace(requiredPrefix, "");
    return key.replace(url, placeInTree(tree, url));
  };
  const sources = [...contents].flatMap(([path, content]) => {
    const url = inTree(path);
    return url === undefined ? [] : [[url, content.length, digestsOf(content)] as const];
  });
  const [configFile] = config.files;
  const tsconfig = configFile === undefined ? undefined : inTree(configFile);
  return {
    modules: Object.fromEntries([...names].map(([key, name]) => [keyOf(key), name])),
    sources,
    // Which files may be the configuration depends on the working directory.
    absent: absent.flatMap((path) => (config.absent.includes(path) ? [] : (inTree(path) ?? []))),
    imports: [...imports],
    ...(tsconfig === undefined ? {} : { tsconfig }),
  };
}

/** Returns the digests of the chunks of a file, joined. */
function digestsOf(content: Buffer): string {
  return [...chunksOf(content)].map(digestOf).join("");
}
