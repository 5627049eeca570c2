/**
 * Follows one page of docs/how-to in a folder of its own.
 *
 * - A fence that starts with `// src/x.ts`, or that follows `<!-- file x.json -->`, is a file.
 * - `<!-- run -->` runs a fence of commands. The fence of text after it is the output. `<!-- run, exit code 1 -->` says that
 *   the commands fail, `<!-- run, numbers vary -->` that numbers in the output differ from run to run, and
 *   `<!-- run, lines in any order -->` that several processes print. A line `…` in the text stands for lines that are left
 *   out; the order of the other lines does not matter then.
 * - `<!-- start -->` leaves a command running until the end of the page, and goes on when the command has printed the text.
 * - The texts in the section "What can go wrong" are the output of `wrong.ts` or `wrong.sh` in the page's folder of
 *   test/fixtures/how-to; an empty line separates them.
 * - `check.sh` of that folder does what a reader would do by hand.
 * - Any other TypeScript is a fragment. It is checked together with the files of the page and with `given.ts` of that
 *   folder, which declares what the prose has introduced.
 *
 * `VICEROY_UPDATE=1` writes outputs into the pages.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect } from "vitest";
import type { CompilerProcess } from "./compiler-process.js";
import { type Fence, fileOf, fragmentAsModule, readPage } from "./markdown.js";
import { type Outcome, root, run } from "./program.js";
import { write } from "./project.js";

const update = process.env["VICEROY_UPDATE"] === "1";
const fixtures = path.join(root, "test/fixtures/how-to");

/**
 * What `npm install` does in a workspace whose other packages are installed. It would remove those that the tests have
 * put there. test/monorepo installs workspaces for real.
 */
const linkWorkspaces = `for at in packages/*; do
  name=$(sed -n 's/.*"name": "\\([^"]*\\)".*/\\1/p' $at/package.json | head -n 1)
  mkdir -p "node_modules/$(dirname $name)" && ln -sfn "$PWD/$at" "node_modules/$name"
done`;

/**
 * Compiles without printing anything unless there is an error. For such a command, the process that all pages share compiles.
 * The commands whose output a page shows run as they are.
 */
const quietCompile = "npx viceroy compile > .compiled 2>&1 || cat .compiled\n";

/** Where a guide is followed. */
export interface Place {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly compiler: CompilerProcess;
  /** Texts that pages show, such as ports, and those that are used instead of them here. */
  readonly replaced: ReadonlyMap<string, string>;
}

export class Guide {
  readonly #file: string;
  readonly #name: string;
  readonly #place: Place;
  readonly #running: ChildProcess[] = [];

  /** @param file the page, from the root of the checkout */
  constructor(file: string, place: Place) {
    this.#file = file;
    this.#name = path.basename(file, ".md");
    this.#place = place;
    this.#write("package.json", '{ "name": "app", "version": "1.0.0", "type": "module" }\n');
    this.#write(".gitignore", "node_modules/\n.viceroy/\n.compiled\n");
    const config = { schemas: "schemas/**/*.ts", actors: "src/**/*.ts" };
    this.#write("viceroy.config.ts", `export default ${JSON.stringify(config)};\n`);
  }

  async follow(): Promise<void> {
    const { fences, text } = readPage(this.#file);
    const wrongFrom = text.split("\n").indexOf("## What can go wrong") + 1;
    const isWrong = ({ line }: Fence) => wrongFrom > 0 && line > wrongFrom;
    for (const [i, fence] of fences.entries()) {
      const { language, code, mark, line } = fence;
      const file = fileOf(fence) ?? /^file (.*)$/.exec(mark)?.[1];
      if (file !== undefined) this.#write(file, fileOf(fence) === undefined ? code : withoutFirstLine(code));
      else if (language === "ts") this.#write(`src/fragment-${line}.ts`, this.#fragment(fence));
      const shown = fences[i + 1]?.language === "text" ? fences[i + 1] : undefined;
      if (mark.startsWith("run")) this.#compare(fence, shown, await this.#run(fence));
      else if (mark === "start") await this.#start(fence, shown);
    }
    await this.#check();
    await this.#goWrong(fences.filter((fence) => fence.language === "text" && isWrong(fence)));
  }

  async end(): Promise<void> {
    for (const child of this.#running) {
      if (child.exitCode !== null) continue;
      const ended = new Promise((resolve) => child.once("close", resolve));
      process.kill(-child.pid!, "SIGTERM");
      await ended;
    }
  }

  /** Runs the commands of a fence. Pages do not show the output of `viceroy compile` before other commands. */
  async #run({ code, mark, line }: Fence): Promise<string> {
    const commands = code.replace(/^npx viceroy compile\n/, quietCompile).replace(/^npm install$/m, linkWorkspaces);
    const wanted = Number(/exit code (\d+)/.exec(mark)?.[1] ?? 0);
    const { code: got, stdout } = await this.#shell(code === "npx viceroy compile" ? code : commands);
    expect(got, `${this.#file}:${line} printed:\n${stdout}`).toBe(wanted);
    // The environment of a test runner makes other programs print colors.
    return stripVTControlCharacters(stdout);
  }

  #write(file: string, text: string): void {
    write(path.join(this.#place.folder, file), this.#local(text));
  }

  /** Runs commands until one fails. Those before and after a quiet compilation run in shells of their own. */
  async #shell(commands: string): Promise<Outcome> {
    const { folder, env, compiler } = this.#place;
    let printed = "";
    for (const [i, part] of commands.split(quietCompile).entries()) {
      if (i > 0) printed += await compiler.compile(folder);
      const outcome = await run("/bin/sh", ["-ec", `exec 2>&1\n${this.#local(part)}`], folder, env);
      printed += outcome.stdout;
      if (outcome.code !== 0) return { ...outcome, stdout: printed };
    }
    return { code: 0, stdout: printed, stderr: "" };
  }

  async #start({ code, line }: Fence, shown: Fence | undefined): Promise<void> {
    const options = { cwd: this.#place.folder, env: { ...process.env, ...this.#place.env }, detached: true } as const;
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
    else expect(comparable(got), `${this.#file}:${shown.line} printed:\n${got}\n`).toBe(comparable(shown.code));
  }

  /** Does by `check.sh` what a reader would do by hand. */
  async #check(): Promise<void> {
    const file = path.join(fixtures, this.#name, "check.sh");
    if (!existsSync(file)) return;
    const { code, stdout } = await this.#shell(readFileSync(file, "utf8"));
    expect(code, `${file} printed:\n${stdout}`).toBe(0);
  }

  /** Provokes the errors that the page shows. */
  async #goWrong(texts: readonly Fence[]): Promise<void> {
    const own = path.join(fixtures, this.#name);
    let commands = `${quietCompile}npx tsx src/wrong.ts`;
    this.#write("src/report.ts", readFileSync(path.join(fixtures, "report.ts"), "utf8"));
    if (existsSync(path.join(own, "wrong.sh"))) commands = readFileSync(path.join(own, "wrong.sh"), "utf8");
    else if (existsSync(path.join(own, "wrong.ts"))) {
      this.#write("src/wrong.ts", readFileSync(path.join(own, "wrong.ts"), "utf8"));
    } else {
      expect(texts, `${this.#file} shows errors that no program of its fixtures provokes`).toEqual([]);
      return;
    }
    const { stdout } = await this.#shell(commands);
    const parts = stdout.trimEnd().split(/\n\n+/);
    expect(parts.length, `${this.#file} shows ${texts.length} errors, and these were printed:\n${stdout}`).toBe(
      texts.length,
    );
    for (const [i, part] of parts.entries()) this.#compare({ mark: "" }, texts[i], part);
  }

  #fragment(fence: Fence): string {
    const given = path.join(fixtures, this.#name, "given.ts");
    return fragmentAsModule(fence, existsSync(given) ? readFileSync(given, "utf8") : "");
  }

  /** Replaces texts that pages show by those that are used here. */
  #local(text: string): string {
    return [...this.#place.replaced].reduce((all, [shown, here]) => all.replaceAll(shown, here), text);
  }

  /** Replaces folders and other texts of this run by those that pages show. */
  #public(text: string): string {
    const home = text.replaceAll(path.join(this.#place.folder, "cache"), "/home/ann/.cache");
    const own = home.replaceAll(this.#place.folder, "/srv/app").replaceAll(root, "/srv/app/node_modules/viceroy/");
    return [...this.#place.replaced].reduce((all, [shown, here]) => all.replaceAll(here, shown), own);
  }
}

/**
 * Replaces what differs from run to run (numbers of processes, times) and from release to release (versions, fingerprints).
 *
 * @param mark that of the fence of commands, which says what else differs
 */
function comparableText(text: string, mark: string): string {
  const fixed = text
    .replace(/\bprocess \d+/g, "process <n>")
    .replace(/\bviceroy (host )?\d+\.\d+\.\d+/g, "viceroy <version>")
    .replace(/(viceroy-\w+)-[0-9a-f]{16}-\w+-\w+\.node/g, "$1-<n>.node")
    .replace(/\bNode\.js \d+\.\d+\.\d+/g, "Node.js <version>")
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "<id>")
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
