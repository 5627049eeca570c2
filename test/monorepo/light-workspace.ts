/**
 * A workspace in a folder of its own, compiled from the sources of this checkout, whose programs use the built package.
 * It needs no package manager: packages are linked.
 */
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { compile } from "../../compiler/cli/commands/compile.js";
import { Project } from "../../compiler/cli/project.js";
import { addFiles, folderWith, TestIo } from "../compiler/folder.js";
import { type Outcome, run } from "../package/packed.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/**
 * Creates a workspace and links its packages, which are the folders of `files`.
 *
 * @returns the folder
 */
export function linkedWorkspace(files: Readonly<Record<string, string>>): string {
  const folder = folderWith(files);
  folders.push(folder);
  mkdirSync(path.join(folder, "node_modules/@acme"), { recursive: true });
  for (const name of new Set(Object.keys(files).map((file) => file.split("/")[0] as string)))
    symlinkSync(path.join("../..", name), path.join(folder, "node_modules/@acme", name));
  symlinkSync(root, path.join(folder, "node_modules/viceroy"));
  symlinkSync(path.join(root, "node_modules/tsx"), path.join(folder, "node_modules/tsx"));
  return folder;
}

export function manifest(name: string, exports: string): string {
  return JSON.stringify({ name: `@acme/${name}`, type: "module", exports });
}

/** Compiles a package. @throws Error with the diagnostics if there are any */
export async function compiled(folder: string, name: string): Promise<void> {
  const io = new TestIo();
  const options = { check: false, json: false, draft: false, base: false } as const;
  const code = await compile(new Project(path.join(folder, name)), options, io);
  if (code !== 0) throw new Error(`cannot compile ${name}:\n${[...io.lines, ...io.errors].join("\n")}`);
}

/** Runs `main.ts` of a package with tsx. */
export function runMain(folder: string, name: string, ...args: readonly string[]): Outcome {
  return run(process.execPath, ["--import", "tsx", "main.ts", ...args], path.join(folder, name));
}

/** The files of a contract package with the actor `Counter`, and of a package whose class implements it. */
export function counterPackages(contract: string, actors: string): Readonly<Record<string, string>> {
  return {
    [`${contract}/package.json`]: manifest(contract, "./generated/counter.ts"),
    [`${contract}/viceroy.config.ts`]: 'export default { schemas: "schemas/*.ts", emit: ["ts", "contract"] };\n',
    [`${contract}/schemas/counter.ts`]:
      'import type { Actor, Int32 } from "viceroy/schema";\nexport interface Counter extends Actor { add(by: Int32): Int32 }\n',
    [`${actors}/package.json`]: manifest(actors, "./index.ts"),
    [`${actors}/index.ts`]: `import { CounterActor } from "@acme/${contract}";
export class MemoryCounter extends CounterActor {
  #value = 0;
  add(by: number) { return (this.#value += by); }
}
`,
  };
}

export { addFiles };
