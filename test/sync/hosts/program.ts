/** A program in a folder of its own, whose code is brought to hosts. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { compileProject } from "../../proc/crew.js";

const repository = path.resolve(import.meta.dirname, "../../..");

const files: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({
    name: "site",
    type: "module",
    dependencies: { viceroy: "*", greeting: "*" },
    devDependencies: { tsx: "*" },
  }),
  ".gitignore": "node_modules\n.viceroy\nignored\n",
  "tsconfig.json": JSON.stringify({ compilerOptions: { module: "nodenext", target: "es2022" } }),
  "viceroy.config.ts": `import { defineConfig } from "viceroy/compiler";
export default defineConfig({ schemas: "schemas/*.ts", actors: "src/**/*.ts" });
`,
  "schemas/site.ts": `import type { Actor, Uint32 } from "viceroy/schema";
export interface Site extends Actor {
  text(): string;
  module(): string;
  folder(): string;
  greeting(): string;
  pid(): Uint32;
  crash(): void;
  /** Brings the code from here to a further host, and returns the URL of the module of an actor there. */
  moduleOnNext(address: string, options: string): string;
}
`,
  "src/text.ts": `export const text = "first";\n`,
  "src/site.ts": `import { greet } from "greeting";
import { attachHosts } from "viceroy";
import { SiteActor } from "../generated/site.js";
import { text } from "./text.js";

export class Here extends SiteActor {
  text(): string { return text; }
  module(): string { return import.meta.url; }
  folder(): string { return process.cwd(); }
  greeting(): string { return greet(); }
  pid(): number { return process.pid; }
  crash(): void { process.exit(7); }
  async moduleOnNext(address: string, options: string): Promise<string> {
    await using hosts = attachHosts([address], JSON.parse(options));
    await hosts.sync();
    return hosts.spawnProcs().spawn("next", Here).module.callOne();
  }
}
`,
  "node_modules/greeting/package.json": JSON.stringify({ name: "greeting", type: "module", main: "index.js" }),
  "node_modules/greeting/index.js": `export const greet = () => "hello";\n`,
};

export interface Program {
  readonly folder: string;
  /**
   * Runs a driver and returns what it has printed as JSON. The script can use `attach()`, `write(file, text)`, `Here` and what
   * "viceroy" exports as `viceroy`.
   */
  run(script: string, env?: Readonly<Record<string, string>>): Promise<Result>;
}

/** The result that a driver has printed, and its standard error. */
export interface Result {
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what its script prints
  readonly value: any;
  readonly stderr: string;
}

/** The folder of a program, and the machine on which its drivers run. */
export interface ProgramPlace {
  /** The folder in which its folder is made. */
  readonly parent?: string;
  /** A command that runs the driver, and its environment. */
  readonly through?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** Makes a program that drives hosts with these addresses. */
export async function makeProgram(
  addresses: readonly string[],
  attachOptions: object = {},
  { parent = tmpdir(), through = [], env: machine = process.env }: ProgramPlace = {},
): Promise<Program> {
  const folder = realpathSync(mkdtempSync(path.join(parent, "site-")));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  symlinkSync(repository, path.join(folder, "node_modules/viceroy"));
  symlinkSync(path.join(repository, "node_modules/tsx"), path.join(folder, "node_modules/tsx"));
  await compileProject(folder);
  const cache = path.join(folder, "..", `${path.basename(folder)}-cache`);
  mkdirSync(cache, { mode: 0o700 });
  const prelude = `import { writeFileSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import * as viceroy from "viceroy";
import "../generated/registry.js";
import { Here } from "../src/site.js";
const attach = (from = 0) => viceroy.attachHosts(${JSON.stringify(addresses)}.slice(from), ${JSON.stringify(attachOptions)});
const write = (file: string, text: string) => {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
};
const print = (value: unknown) => console.log(JSON.stringify({ result: value }));
const values = async (answers: PromiseLike<{ values(): Iterable<unknown> }>) => [...(await answers).values()];
`;
  let drivers = 0;
  return {
    folder,
    run: (script, env = {}) => {
      const file = path.join(folder, ".viceroy", `driver-${drivers++}.ts`);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, `${prelude}${script}`);
      const command = [...through, process.execPath, "--import", "tsx", file];
      return runDriver(folder, command, { ...machine, XDG_CACHE_HOME: cache, ...env });
    },
  };
}

async function runDriver(cwd: string, [file, ...args]: readonly string[], env: NodeJS.ProcessEnv): Promise<Result> {
  const child = spawn(file!, args, { cwd, env });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (text) => {
    stdout += text;
  });
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  const line = stdout.split("\n").find((each) => each.startsWith(`{"result":`));
  if (code !== 0 || line === undefined) throw new Error(`the driver has ended with ${code}:\n${stdout}\n${stderr}`);
  return { value: JSON.parse(line).result, stderr };
}
