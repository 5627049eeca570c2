/**
 * Generates code for the benchmark: Viceroy's with `viceroy compile` and esbuild, that of protobuf-es and ts-proto with buf, and that of
 * protobufjs with pbjs. Bebop's code is in generated/, because its compiler is large.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { cacheDir, repository } from "../harness/index.js";

const directory = cacheDir("codec");
const bin = path.join(repository, "bench/node_modules/.bin");
const here = (file) => fileURLToPath(new URL(file, import.meta.url));

export async function prepareCodecs() {
  for (const file of ["schemas", "package.json", "viceroy.config.ts", "messages.proto"]) {
    cpSync(here(file), path.join(directory, file), { recursive: true });
  }
  run(process.execPath, path.join(repository, "dist/cli/viceroy.js"), "compile");
  await strip("generated/messages.ts", "generated/messages.js");
  if (isNewer("messages.proto", "pbjs.js")) await generatePeerCode();
}

async function generatePeerCode() {
  const plugins = [
    { local: path.join(bin, "protoc-gen-es"), out: ".", opt: "target=js" },
    {
      local: path.join(bin, "protoc-gen-ts_proto"),
      out: "ts-proto",
      opt: "esModuleInterop=true,outputJsonMethods=false",
    },
  ];
  writeFileSync(path.join(directory, "buf.gen.yaml"), JSON.stringify({ version: "v2", plugins }));
  run(path.join(bin, "buf"), "generate");
  await strip("ts-proto/messages.ts", "ts-proto/messages.js");
  const only = ["verify", "convert", "delimited", "typeurl", "service", "comments"].map((what) => `--no-${what}`);
  run(path.join(bin, "pbjs"), "-t", "static-module", "-w", "es6", ...only, "-o", "pbjs.js", "messages.proto");
}

function strip(from, to) {
  const [entry, outfile] = [path.join(directory, from), path.join(directory, to)];
  return build({ entryPoints: [entry], outfile, format: "esm", target: "node20", logLevel: "warning" });
}

function isNewer(source, output) {
  const made = path.join(directory, output);
  return !existsSync(made) || statSync(here(source)).mtimeMs > statSync(made).mtimeMs;
}

function run(command, ...args) {
  execFileSync(command, args, { cwd: directory, stdio: ["ignore", "ignore", "inherit"] });
}

/** Imports a generated module. */
export const load = (file) => import(pathToFileURL(path.join(directory, file)).href);
