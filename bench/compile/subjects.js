/** The compilers to compare, each as one process, timed from its start to its end or until its files exist. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { repository } from "../harness/index.js";

const bench = path.join(repository, "bench");
const cli = path.join(repository, "dist/cli/viceroy.js");
const walk = fileURLToPath(new URL("walk.js", import.meta.url));

export function writeProject(directory, files) {
  for (const [name, text] of files) {
    mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
    writeFileSync(path.join(directory, name), text);
  }
  const plugins = [{ local: path.join(bench, "node_modules/.bin/protoc-gen-es"), out: "../es", opt: "target=ts" }];
  writeFileSync(path.join(directory, "proto/buf.gen.yaml"), JSON.stringify({ version: "v2", plugins }));
}

/** @returns {Record<string, () => Promise<{ ms: number }>>} */
export function subjectsIn(directory) {
  const remove = (...names) => {
    for (const name of names) rmSync(path.join(directory, name), { recursive: true, force: true });
  };
  const generated = path.join(directory, "generated");
  return {
    "buf generate, protoc-gen-es": async () => {
      remove("es");
      return timed(
        expectFiles(path.join(directory, "es"), directory),
        [buf(), "generate"],
        path.join(directory, "proto"),
      );
    },
    "viceroy compile": async () => {
      remove("generated", "viceroy.lock", ".viceroy");
      return timed(expectFiles(generated, directory), [process.execPath, cli, "compile"], directory);
    },
    "ts-morph walk, nothing written": async () => timed(() => {}, [process.execPath, walk, directory], directory),
    "viceroy compile, unchanged tree": async () => {
      compiled(directory);
      const before = newest(generated);
      return timed(() => unchanged(generated, before), [process.execPath, cli, "compile"], directory);
    },
    "viceroy compile --watch, one file edited": () => {
      compiled(directory);
      return editInWatch(directory);
    },
  };
}

/** Compiles unless that has happened, so that the next step finds the outputs. */
function compiled(directory) {
  if (!existsSync(path.join(directory, "generated"))) timed(() => {}, [process.execPath, cli, "compile"], directory);
}

/** Path of the binary itself: the wrapper of the npm package would add the start of Node.js. */
function buf() {
  const require = createRequire(path.join(bench, "node_modules/@bufbuild/buf/package.json"));
  return require.resolve(`@bufbuild/buf-${process.platform}-${process.arch === "arm64" ? "aarch64" : "x64"}/bin/buf`);
}

/** Returns the duration of a command in ms. @param check throws if the command has not done its work */
function timed(check, [command, ...args], cwd) {
  const before = performance.now();
  execFileSync(command, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
  const ms = performance.now() - before;
  check();
  return { ms };
}

/** Throws unless every schema file has its generated file. */
function expectFiles(out, directory) {
  const schemas = readdirSync(path.join(directory, "schemas")).length;
  return () => {
    const written = readdirSync(out).filter((name) => name.startsWith("part"));
    if (written.length !== schemas) throw new Error(`${out}: ${written.length} files for ${schemas} schemas`);
  };
}

const newest = (out) => Math.max(...readdirSync(out).map((name) => statSync(path.join(out, name)).mtimeMs));

function unchanged(out, before) {
  if (newest(out) !== before) throw new Error(`${out}: an unchanged tree was written again`);
}

/** Returns the ms from saving a schema file with one more field until the generated file contains that field. */
async function editInWatch(directory) {
  const source = path.join(directory, "schemas/part-0.ts");
  const target = path.join(directory, "generated/part-0.ts");
  const original = readFileSync(source, "utf8");
  const watch = spawn(process.execPath, [cli, "compile", "--watch"], {
    cwd: directory,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(watch, "exit");
  try {
    await once(watch.stdout, "data");
    const times = [];
    for (let edit = 0; edit < 4; edit++) {
      await delay(300);
      const field = `edited${edit}`;
      const before = performance.now();
      writeFileSync(source, original.replace("  name: string;", `  name: string;\n  ${field}: string;`));
      await appears(field, target, before + 30_000);
      times.push(performance.now() - before);
    }
    // The first edit runs cold code, while an editing session has warm code.
    return { ms: times.slice(1).sort((a, b) => a - b)[1] };
  } finally {
    watch.kill();
    await ended;
    writeFileSync(source, original);
    timed(() => {}, [process.execPath, cli, "compile"], directory);
  }
}

async function appears(text, file, deadline) {
  while (!(existsSync(file) && readFileSync(file, "utf8").includes(text))) {
    if (performance.now() > deadline) throw new Error(`${file}: "${text}" did not appear`);
    await delay(1);
  }
}
