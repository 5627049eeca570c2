/**
 * Makes the links to the programs of packages, as `npm install` does: `npx tsx main.ts` needs node_modules/.bin/tsx. Code sync brings packages
 * without these links.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Links the programs of the packages that a program in a folder finds. Links that are there stay. */
export function linkPrograms(folder: string): void {
  for (let at = folder; ; at = dirname(at)) {
    const modules = join(at, "node_modules");
    if (existsSync(modules)) linkIn(modules);
    if (existsSync(modules) || dirname(at) === at) return;
  }
}

function linkIn(modules: string): void {
  for (const name of packagesIn(modules)) {
    for (const [program, file] of Object.entries(programsOf(modules, name))) {
      const link = join(modules, ".bin", basename(program));
      try {
        mkdirSync(dirname(link), { recursive: true });
        symlinkSync(join("..", name, file), link);
      } catch {
        // The link is there, or the folder belongs to the image, which has its own links.
      }
    }
  }
}

function packagesIn(modules: string): string[] {
  return readdirSync(modules).flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
  );
}

function programsOf(modules: string, name: string): Readonly<Record<string, string>> {
  try {
    const { bin = {} } = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")) as {
      readonly bin?: string | Readonly<Record<string, string>>;
    };
    return typeof bin === "string" ? { [basename(name)]: bin } : bin;
  } catch {
    // It is no package.
    return {};
  }
}
