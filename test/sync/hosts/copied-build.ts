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

/** Changes all places of a text in the runtime of a build. */
export function editRuntime({ dist }: CopiedBuild, edits: Readonly<Record<string, string>>): void {
  const file = path.join(dist, "runtime.cjs");
  let text = readFileSync(file, "utf8");
  for (const [from, to] of Object.entries(edits)) {
    if (!text.includes(from)) throw new Error(`the runtime has no ${from}`);
    text = text.replaceAll(from, to);
  }
  writeFileSync(file, text);
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
