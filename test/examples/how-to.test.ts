/**
 * The how-to guides, each followed in a project of its own: files are written where they say, commands are run, and what
 * is printed is compared with the text that the page shows.
 *
 * - A fence that starts with `// src/x.ts`, or that follows `<!-- file x.json -->`, is a file.
 * - `<!-- run -->` runs a fence of commands; the fence of text after it is the output. `<!-- run, exit code 1 -->` says that
 *   they fail, `<!-- run, numbers vary -->` that numbers in their output do, `<!-- run, lines in any order -->` that several
 *   processes print. A line `…` in the text stands for lines that are left out; the order of the others does not matter
 *   then. `<!-- start -->` leaves a command running until
 *   the end of the page, and goes on when it has printed the text.
 * - The texts in the section "What can go wrong" are what `wrong.ts` or `wrong.sh` of the page's folder in
 *   test/fixtures/how-to prints, one after the other.
 * - `check.sh` of that folder, where there is one, does what a reader would do by hand.
 * - Any other TypeScript is a fragment, checked together with the files of the page and with `given.ts` of that folder,
 *   which declares what the prose has introduced.
 *
 * `VICEROY_UPDATE=1` writes outputs into the pages.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { hasTensors } from "../tensor/addon.js";
import { type Fence, fileOf, fragmentAsModule, pages, readPage } from "./markdown.js";
import { root, run } from "./program.js";
import { installInto, withQuickNpx, write } from "./project.js";

vi.setConfig({ testTimeout: 300_000 });

const update = process.env["VICEROY_UPDATE"] === "1";
const fixtures = path.resolve("test/fixtures/how-to");
const guides = pages()
  .map(({ file }) => file)
  .filter((file) => file.startsWith("docs/how-to/") && !file.endsWith("/index.md"));
/** What cannot be followed everywhere. */
const followed: Readonly<Record<string, boolean>> = {
  "train-on-several-processes": hasTensors,
  "keep-an-answer-on-its-process": hasTensors,
  "build-the-native-addons": spawnSync("g++", ["--version"]).status === 0,
};
const packages = ["@bufbuild", "@connectrpc", "@grpc", "esbuild"];

/** What commands that run here must not see of where the tests run. */
const alike = {
  GITHUB_ACTIONS: "",
  GITHUB_BASE_REF: "",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_AUTHOR_NAME: "Ann",
  GIT_AUTHOR_EMAIL: "ann@example.com",
  GIT_COMMITTER_NAME: "Ann",
  GIT_COMMITTER_EMAIL: "ann@example.com",
};

const folder = mkdtempSync(path.join(tmpdir(), "how-to-"));
let env: Readonly<Record<string, string>>;
const ports = new Map<string, string>();

beforeAll(async () => {
  installInto(folder);
  env = { ...withQuickNpx(folder, packages), ...alike };
  // Pages name ports that others may be using here.
  for (const port of ["8080", "26600", "26601", "26602", "26603"]) ports.set(port, await freePort());
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

test.for(guides)("%s: what it says is what happens", async (file, { skip }) => {
  const name = path.basename(file, ".md");
  skip(followed[name] === false, "it needs what is not installed here");
  const guide = new Guide(file, path.join(folder, name));
  try {
    await guide.follow();
  } finally {
    await guide.end();
  }
});

test("the code of all guides, fragments included, passes the type checker", () => {
  const options = {
    target: "es2022",
    lib: ["es2023", "dom", "esnext.disposable"],
    module: "nodenext",
    types: ["node"],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  };
  const folders = guides
    .map((file) => path.basename(file, ".md"))
    .filter((name) => existsSync(path.join(folder, name)));
  write(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: folders }));
  expect(complaints(folder)).toBe("");
});

class Guide {
  readonly #file: string;
  readonly #folder: string;
  readonly #name: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #running: ChildProcess[] = [];

  constructor(file: string, folder: string) {
    this.#file = file;
    this.#folder = folder;
    this.#name = path.basename(file, ".md");
    // Addons that a guide builds are its own.
    const cache = { XDG_CACHE_HOME: path.join(folder, "cache") };
    this.#env = this.#name === "build-the-native-addons" ? { ...env, ...cache } : env;
    write(path.join(folder, "package.json"), '{ "name": "app", "version": "1.0.0", "type": "module" }\n');
    write(path.join(folder, ".gitignore"), "node_modules/\n.viceroy/\n.compiled\n");
    const config = { schemas: "schemas/**/*.ts", actors: "src/**/*.ts" };
    write(path.join(folder, "viceroy.config.ts"), `export default ${JSON.stringify(config)};\n`);
  }

  async follow(): Promise<void> {
    const { fences, text } = readPage(this.#file);
    const wrongFrom = text.split("\n").indexOf("## What can go wrong") + 1;
    const isWrong = ({ line }: Fence) => wrongFrom > 0 && line > wrongFrom;
    for (const [i, fence] of fences.entries()) {
      const { language, code, mark, line } = fence;
      const file = fileOf(fence) ?? /^file (.*)$/.exec(mark)?.[1];
      if (file !== undefined)
        write(path.join(this.#folder, file), this.#local(fileOf(fence) ? withoutFirstLine(code) : code));
      else if (language === "ts") write(path.join(this.#folder, `src/fragment-${line}.ts`), this.#fragment(fence));
      const shown = fences[i + 1]?.language === "text" ? fences[i + 1] : undefined;
      if (mark.startsWith("run")) this.#compare(fence, shown, await this.#run(fence));
      else if (mark === "start") await this.#start(fence, shown);
    }
    await this.#check();
    await this.#goWrong(fences.filter((fence) => fence.language === "text" && isWrong(fence)));
  }

  async end(): Promise<void> {
    for (const child of this.#running) {
      const ended = new Promise((resolve) => child.once("close", resolve));
      process.kill(-child.pid!, "SIGTERM");
      await ended;
    }
  }

  /** What compiling prints is not shown on pages. */
  async #run({ code, mark, line }: Fence): Promise<string> {
    const commands = code.replace(/^npx viceroy compile\n/, "npx viceroy compile > .compiled 2>&1 || cat .compiled\n");
    const wanted = Number(/exit code (\d+)/.exec(mark)?.[1] ?? 0);
    const { code: got, stdout } = await this.#shell(code === "npx viceroy compile" ? code : commands);
    expect(got, `${this.#file}:${line} printed:\n${stdout}`).toBe(wanted);
    return stdout;
  }

  async #shell(commands: string) {
    return run("/bin/sh", ["-ec", `exec 2>&1\n${this.#local(commands)}`], this.#folder, this.#env);
  }

  async #start({ code, line }: Fence, shown: Fence | undefined): Promise<void> {
    const options = { cwd: this.#folder, env: { ...process.env, ...this.#env }, detached: true } as const;
    const child = spawn("/bin/sh", ["-ec", `exec 2>&1\n${this.#local(code)}`], options);
    this.#running.push(child);
    let printed = "";
    await new Promise<void>((resolve, reject) => {
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
        if (shown !== undefined && printed.trimEnd().split("\n").length >= shown.code.split("\n").length) resolve();
      });
      child.once("close", () => reject(new Error(`${this.#file}:${line}: it has ended, and printed ${printed}`)));
    });
    this.#compare({ mark: "" }, shown, printed);
  }

  #compare({ mark }: { mark: string }, shown: Fence | undefined, printed: string): void {
    if (shown === undefined) return;
    const got = this.#public(printed).trimEnd();
    const comparable = (text: string) => comparableText(text, mark);
    if (shown.code.split("\n").includes("…")) {
      const lines = new Set(comparable(got).split("\n"));
      const missing = comparable(shown.code)
        .split("\n")
        .filter((line) => line !== "…" && !lines.has(line));
      expect(missing, `${this.#file}:${shown.line}, of what was printed:\n${got}`).toEqual([]);
    } else if (update && comparable(got) !== comparable(shown.code)) replaceFence(this.#file, shown.index, got);
    else expect(comparable(got), `${this.#file}:${shown.line}`).toBe(comparable(shown.code));
  }

  /** What a reader would do by hand. */
  async #check(): Promise<void> {
    const file = path.join(fixtures, this.#name, "check.sh");
    if (!existsSync(file)) return;
    const { code, stdout } = await this.#shell(readFileSync(file, "utf8"));
    expect(code, `${file} printed:\n${stdout}`).toBe(0);
  }

  async #goWrong(texts: readonly Fence[]): Promise<void> {
    const own = path.join(fixtures, this.#name);
    let commands: string;
    cpSync(path.join(fixtures, "report.ts"), path.join(this.#folder, "src/report.ts"));
    if (existsSync(path.join(own, "wrong.sh"))) commands = readFileSync(path.join(own, "wrong.sh"), "utf8");
    else if (existsSync(path.join(own, "wrong.ts"))) {
      cpSync(path.join(own, "wrong.ts"), path.join(this.#folder, "src/wrong.ts"));
      commands = "npx viceroy compile > .compiled 2>&1 || cat .compiled\nnpx tsx src/wrong.ts";
    } else {
      expect(texts, `${this.#file} shows what goes wrong, and nothing shows that it does`).toEqual([]);
      return;
    }
    const { stdout } = await this.#shell(commands);
    const parts = stdout.trimEnd().split(/\n\n+/);
    expect(
      parts.length,
      `${this.#file} shows ${texts.length} texts of what goes wrong, and these were printed:\n${stdout}`,
    ).toBe(texts.length);
    for (const [i, part] of parts.entries()) this.#compare({ mark: "" }, texts[i], part);
  }

  #fragment(fence: Fence): string {
    const given = path.join(fixtures, this.#name, "given.ts");
    return fragmentAsModule(fence, existsSync(given) ? readFileSync(given, "utf8") : "");
  }

  #local(text: string): string {
    return [...ports].reduce((all, [shown, here]) => all.replaceAll(shown, here), text);
  }

  #public(text: string): string {
    const home = text.replaceAll(path.join(this.#folder, "cache"), "/home/ann/.cache");
    const own = home.replaceAll(this.#folder, "/srv/app").replaceAll(root, "/srv/app/node_modules/viceroy/");
    return [...ports].reduce((all, [shown, here]) => all.replaceAll(here, shown), own);
  }
}

/** Numbers of processes and times differ from run to run, versions and fingerprints from release to release. */
function comparableText(text: string, mark: string): string {
  const fixed = text
    .replace(/\bprocess \d+/g, "process <n>")
    .replace(/\bviceroy (host )?\d+\.\d+\.\d+/g, "viceroy <version>")
    .replace(/(viceroy-\w+)-[0-9a-f]{16}-\w+-\w+\.node/g, "$1-<n>.node")
    .replace(/fingerprint 0x[0-9a-f]+/g, "fingerprint <n>")
    .replace(/(in \d+ files?), \d+ ms/g, "$1, <n> ms")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replace(/ +$/gm, "");
  const lines = (mark.includes("numbers vary") ? fixed.replace(/\d+(\.\d+)?/g, "<n>") : fixed).split("\n");
  return (mark.includes("in any order") ? lines.sort() : lines).join("\n");
}

function withoutFirstLine(text: string): string {
  return text.slice(text.indexOf("\n") + 1);
}

function replaceFence(file: string, index: number, text: string): void {
  const page = readPage(file);
  const { line, code } = page.fences[index]!;
  const lines = page.text.split("\n");
  lines.splice(line - 1, code.split("\n").length, ...text.split("\n"));
  writeFileSync(file, lines.join("\n"));
}

/** Below those that the system gives out by itself, so that nobody gets it meanwhile. */
async function freePort(): Promise<string> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false)).listen(port, () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (free && ![...ports.values()].includes(`${port}`)) return `${port}`;
  }
}

function complaints(folder: string): string {
  try {
    execFileSync("npx", ["tsc", "-p", folder], { encoding: "utf8", env: { ...process.env, ...env } });
    return "";
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}
