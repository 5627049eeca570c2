/** Copies of the build, which tests change. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../../..");

/** A copy of the build: its folder `dist`, and its command. */
export interface CopiedBuild {
  readonly dist: string;
  readonly command: string;
}

/** The scripts of the runtime. */
const scripts = ["runtime.cjs", "runtime-rest.cjs"];

/** Changes all places of a text in the runtime of a build. */
export function editRuntime({ dist }: Pick<CopiedBuild, "dist">, edits: Readonly<Record<string, string>>): void {
  const found = new Set<string>();
  for (const script of scripts) {
    const file = path.join(dist, script);
    let text = readFileSync(file, "utf8");
    for (const [from, to] of Object.entries(edits)) {
      if (!text.includes(from)) continue;
      found.add(from);
      text = text.replaceAll(from, to);
    }
    writeFileSync(file, text);
  }
  for (const from of Object.keys(edits)) if (!found.has(from)) throw new Error(`the runtime has no ${from}`);
}

export function copyBuild(): CopiedBuild {
  const copy = mkdtempSync(path.join(tmpdir(), "build-"));
  const dist = path.join(copy, "dist");
  mkdirSync(dist);
  cpSync(path.join(root, "package.json"), path.join(copy, "package.json"));
  cpSync(path.join(root, "dist"), dist, { recursive: true, filter: (file) => !file.endsWith(".map") });
  symlinkSync(path.join(root, "node_modules"), path.join(copy, "node_modules"));
  return { dist, command: path.join(dist, "cli/viceroy.js") };
}
