/**
 * Finds the headers of the running Node.js, with those of V8. Only the addon `stack` needs them. They are installed with
 * Node.js by its archives, images and most packages, and by node-gyp.
 */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

/**
 * Returns the folder of the headers.
 * @param env the environment; npm_config_nodedir can name the folder of Node.js, as for node-gyp
 * @param program the path of the executable of Node.js
 * @throws Error with the searched folders and the reasons
 */
export function findNodeHeaders(env: NodeJS.ProcessEnv = process.env, program = process.execPath): string {
  const given = env["npm_config_nodedir"];
  // A folder that the user names explicitly is not replaced by another one.
  const folders = given ? [path.join(given, "include/node")] : usualFolders(program);
  const reasons: string[] = [];
  for (const folder of folders) {
    const reason = reasonAgainst(folder);
    if (reason === undefined) return folder;
    reasons.push(`  ${folder}: ${reason}`);
  }
  throw new Error(
    `cannot find the headers of Node.js ${process.version}:\n${reasons.join("\n")}\n` +
      "Install them (`npx node-gyp install`), or set npm_config_nodedir to the folder of a Node.js that contains include/node",
  );
}

function usualFolders(program: string): string[] {
  const cache = path.join(homedir(), ".cache/node-gyp", process.versions.node);
  return [path.dirname(path.dirname(program)), cache].map((folder) => path.join(folder, "include/node"));
}

/** Returns why the headers of a folder cannot be used, or undefined. */
function reasonAgainst(folder: string): string | undefined {
  if (!existsSync(path.join(folder, "v8.h"))) return "there is no v8.h";
  const text = readFileSync(path.join(folder, "node_version.h"), "utf8");
  const [, found] = /^#define NODE_MODULE_VERSION (\d+)/m.exec(text) ?? [];
  if (found === process.versions.modules) return undefined;
  return `they are for modules of version ${found ?? "unknown"}, and this Node.js loads ${process.versions.modules}`;
}
