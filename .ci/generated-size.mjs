/**
 * Measures the generated code of the messages of the codec benchmark, in bytes per message, for Viceroy, protoc-gen-es
 * and ts-proto. `--write` writes the table to README.md. Without it, the script fails if the table is not up to date.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { transform } from "esbuild";
import { root } from "./steps.mjs";

const bin = path.join(root, "node_modules/.bin");
const [open, close] = ["<!-- generated-size -->", "<!-- /generated-size -->"];

const work = mkdtempSync(path.join(tmpdir(), "viceroy-size-"));
try {
  const table = await measure();
  const file = path.join(root, "README.md");
  const page = readFileSync(file, "utf8");
  const [from, to] = [page.indexOf(open), page.indexOf(close)];
  if (from < 0 || to < from) throw new Error(`cannot write README.md: it has no ${open} … ${close}`);
  const next = `${page.slice(0, from + open.length)}\n${table}\n${page.slice(to)}`;
  if (process.argv.includes("--write")) writeFileSync(file, next);
  else if (next !== page) {
    console.error(
      `README.md tells other sizes of generated code than there are; run node .ci/generated-size.mjs --write\n${table}`,
    );
    process.exitCode = 1;
  }
} finally {
  rmSync(work, { recursive: true });
}

async function measure() {
  for (const file of ["schemas", "package.json", "viceroy.config.ts", "messages.proto"]) {
    cpSync(path.join(root, "bench/codec", file), path.join(work, file), { recursive: true });
  }
  run(process.execPath, path.join(root, "dist/cli/viceroy.js"), "compile");
  const plugins = [
    { local: path.join(bin, "protoc-gen-es"), out: "es", opt: "target=ts" },
    { local: path.join(bin, "protoc-gen-ts_proto"), out: "ts-proto", opt: "esModuleInterop=true" },
  ];
  writeFileSync(path.join(work, "buf.gen.yaml"), JSON.stringify({ version: "v2", plugins }));
  run(path.join(bin, "buf"), "generate", "messages.proto");
  const count = (file, what) => readFileSync(path.join(work, file), "utf8").match(what).length;
  const theirs = count("messages.proto", /^message /gm);
  const rows = [
    [
      "Viceroy: both layouts, JSON, types",
      "generated/messages.ts",
      count("schemas/messages.ts", /^export interface /gm),
    ],
    ["ts-proto: protobuf, JSON, types", "ts-proto/messages.ts", theirs],
    ["protoc-gen-es: a descriptor that its library interprets, types", "es/messages_pb.ts", theirs],
  ];
  const lines = [];
  for (const [what, file, messages] of rows) {
    const source = readFileSync(path.join(work, file), "utf8");
    const { code } = await transform(source, { loader: "ts", minify: true, format: "esm", target: "node20" });
    const sizes = [source.length, code.length, gzipSync(code, { level: 9 }).length].map((size) =>
      Math.round(size / messages).toLocaleString("en-US"),
    );
    lines.push(`| ${what} | ${sizes.join(" | ")} |`);
  }
  return ["| bytes per message | source | minified | … and compressed |", "|---|--:|--:|--:|", ...lines].join("\n");
}

function run(command, ...args) {
  execFileSync(command, args, { cwd: work, stdio: ["ignore", "ignore", "inherit"] });
}
