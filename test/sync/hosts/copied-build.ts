/** Copies of the build, which tests change. */
import { cpSync, mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../../..");

/** A copy of the build: its folder `dist`, and its command. */
export interface CopiedBuild {
  readonly dist: string;
  readonly command: string;
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
