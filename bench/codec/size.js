/**
 * `node bench/codec/size.js`: bytes of code that a message costs, minified, as a table: Viceroy's generated file against
 * those of protoc-gen-es and ts-proto, for the messages of this benchmark. A codec of Viceroy has two layouts and JSON.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { transform } from "esbuild";
import { cacheDir } from "../harness/index.js";
import { prepareCodecs } from "./prepare.js";

await prepareCodecs();

/** With how many messages there are in each: Viceroy's have one with a typed array, which the others lack. */
const files = {
  "Viceroy: both layouts": ["generated/messages.ts", 8],
  "ts-proto 2.18: protobuf": ["ts-proto/messages.ts", 7],
  "protoc-gen-es 2.17: a descriptor": ["messages_pb.js", 7],
};

async function sizeOf(file) {
  const text = readFileSync(path.join(cacheDir("codec"), file), "utf8");
  const loader = file.endsWith(".ts") ? "ts" : "js";
  const { code } = await transform(text, { loader, minify: true, format: "esm" });
  return code.length;
}

process.stdout.write("| generated code | bytes | per message |\n|---|---|---|\n");
for (const [name, [file, messages]] of Object.entries(files)) {
  const size = await sizeOf(file);
  process.stdout.write(`| ${name} | ${size} | ${Math.round(size / messages)} |\n`);
}
