/**
 * Prepares the modules of a program in TypeScript on the machine of the driver, and adds them to the tree, so that no host
 * transforms them (`runtime/bundle/typescript/portable-program.ts`). A tree without them is complete, too: its hosts prepare the modules.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { TreeEntry } from "../../generated/sync.js";
import { type PortableProgram, portableFolder, readDescription } from "../bundle/typescript/portable-program.js";
import { preparedProgram, programOf, resolutionOptions } from "../bundle/typescript/prepared-program.js";
import { programDirectory } from "../bundle/typescript/program.js";
import { currentRuntime, inheritedTsx } from "./kernel.js";
import { contains } from "./scan/check-root.js";
import { Pace } from "./scan/pace.js";
import type { Scan } from "./scan/scan.js";
import { placedFolders } from "./synced-tree.js";
import { chunksOf } from "./tree/chunks.js";
import { digestOf, digestsIn, joinDigests } from "./tree/digest.js";
import { encodeManifest } from "./tree/manifest.js";
import { comparePaths } from "./tree/tree-path.js";

/** Returns a scan with the prepared modules of the program; the scan itself if processes on hosts would not use them. */
export async function withPreparedModules(scan: Scan): Promise<Scan> {
  const { platform } = currentRuntime();
  const request = { isolation: "process", execArgv: undefined } as const;
  const loader = platform.loaderFor(request, platform.classes.registryUrls);
  if (loader === undefined || !/\/typescript\/register\.js\?/.test(loader)) return scan;
  const script = fileURLToPath(new URL("prepare.js", loader));
  const options = resolutionOptions(process.execArgv);
  const program = programOf(new URL(loader).searchParams, options, script);
  const registry = fileURLToPath(program.roots[0] as string);
  const root = scan.roots.find((each) => contains(each.root, registry));
  if (root === undefined) return scan;
  const prepared = path.posix.join(root.at, portableFolder(program));
  const folders = placedFolders(scan).map(({ folder, at }) => ({
    from: `${pathToFileURL(folder).href}/`,
    to: urlPath(at === "" ? "" : `${at}/`),
  }));
  const tree = { folders, prepared: urlPath(prepared) };
  const manifest = await preparedProgram({ ...program, tree }, { options, env: environment() });
  if (manifest === undefined || manifest.failure !== undefined) return scan;
  const folder = path.join(programDirectory(), manifest.folder);
  const description = readDescription(pathToFileURL(`${folder}/`));
  if (description === undefined || !fits(description, scan, tree.prepared)) return scan;
  return addFiles(scan, folder, prepared);
}

/** The environment of the preparing process, which loads tsx by itself. */
function environment(): NodeJS.ProcessEnv {
  const nodeOptions = inheritedTsx(process.execArgv, process.env["NODE_OPTIONS"])?.nodeOptions;
  return nodeOptions === undefined ? process.env : { ...process.env, NODE_OPTIONS: nodeOptions };
}

/** Returns a path in the tree as in a URL. */
function urlPath(inTree: string): string {
  return pathToFileURL(`/${inTree}`).pathname;
}

/** Returns whether the tree has all that the modules need, and the very sources from which they were prepared. */
function fits({ sources, imports, absent }: PortableProgram, { entries }: Scan, prepared: string): boolean {
  const digests = new Map(entries.map((entry) => [entry.path, digestsIn(entry.digests).join("")]));
  const pathOf = (url: string) => decodeURIComponent(new URL(url, `file://${prepared}`).pathname).slice(1);
  return (
    sources.every(([url, , expected]) => digests.get(pathOf(url)) === expected) &&
    imports.every((url) => digests.has(pathOf(url))) &&
    !absent.some((url) => digests.has(pathOf(url)))
  );
}

/** Adds the files of a folder of this machine to a tree. @param at the folder in the tree, with a slash at its end */
async function addFiles(scan: Scan, folder: string, at: string): Promise<Scan> {
  const files = new Map(readdirSync(folder).map((name) => [`${at}${name}`, path.join(folder, name)]));
  const pace = new Pace();
  const added: TreeEntry[] = [];
  for (const [inTree, file] of files) {
    await pace.pause();
    const chunks = [...chunksOf(readFileSync(file))];
    const sizes = chunks.map(({ length }) => length);
    added.push({ path: inTree, mode: 0o600, digests: joinDigests(chunks.map(digestOf)), sizes });
  }
  const entries = [...scan.entries, ...added].sort((left, right) => comparePaths(left.path, right.path));
  return {
    ...scan,
    entries,
    manifest: encodeManifest(entries),
    fileOf: (entry) => files.get(entry.path) ?? scan.fileOf(entry),
  };
}
