/** `viceroy init`: writes a small project that runs. Never overwrites: a file that is there stays as it is. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { exitCode, type Io } from "./io.js";
import { ignoredPaths, templates } from "./templates.js";

export async function init(folder: string, io: Io): Promise<number> {
  mkdirSync(folder, { recursive: true });
  for (const { path: name, text } of templates) {
    const file = path.join(folder, name);
    if (existsSync(file)) {
      io.out(`kept     ${name}`);
      continue;
    }
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    io.out(`wrote    ${name}`);
  }
  ignore(folder, io);
  const typed = ensureModule(folder, io);
  io.out("");
  io.out("Next:");
  io.out("  npx viceroy compile          compile schemas/ to generated/");
  io.out(
    "  npx viceroy run src/main.ts  run the sample (needs tsx: npm install --save-dev tsx typescript @types/node)",
  );
  return typed ? exitCode.ok : exitCode.usage;
}

function ignore(folder: string, io: Io): void {
  const file = path.join(folder, ".gitignore");
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const missing = ignoredPaths.filter((entry) => !text.split(/\r?\n/).includes(entry));
  if (missing.length === 0) return;
  const separator = text === "" || text.endsWith("\n") ? "" : "\n";
  writeFileSync(file, `${text}${separator}${missing.join("\n")}\n`);
  io.out(`${text === "" ? "wrote   " : "extended"} .gitignore`);
}

/** Generated code is made of ES modules. */
function ensureModule(folder: string, io: Io): boolean {
  const file = path.join(folder, "package.json");
  if (!existsSync(file)) {
    const manifest = { name: packageName(folder), version: "0.0.0", private: true, type: "module" };
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
    io.out("wrote    package.json");
    return true;
  }
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  } catch (error) {
    io.err(`cannot read package.json: ${(error as Error).message}`);
    return false;
  }
  const { name, type } = parsed;
  if (name !== undefined && type === "module") return true;
  if (type !== undefined && type !== "commonjs" && type !== "module") {
    io.err(`cannot use package.json: "type" must be "module", got ${JSON.stringify(type)}`);
    return false;
  }
  // npm makes a package.json without a name when it installs into an empty folder; the name is part of every id.
  const added = {
    ...(name === undefined && { name: packageName(folder) }),
    ...(type !== "module" && { type: "module" }),
  };
  const { name: _, version, ...rest } = parsed;
  const head = { name: name ?? added.name, ...(version === undefined ? {} : { version }) };
  writeFileSync(file, `${JSON.stringify({ ...head, ...rest, type: "module" }, null, 2)}\n`);
  const what = Object.entries(added).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  io.out(`extended package.json with ${what.join(" and ")}`);
  return true;
}

/** A package may be called what its folder is called, spelt as npm has it: a letter or digit first. */
function packageName(folder: string): string {
  const name = path
    .basename(path.resolve(folder))
    .toLowerCase()
    .replace(/[^a-z0-9._-]/g, "-")
    .replace(/^[._-]+/, "");
  return name === "" ? "app" : name;
}
