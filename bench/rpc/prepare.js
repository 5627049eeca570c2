/** Generates code for peers that need it, once per installation: record.proto through buf and protoc-gen-es. */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { cacheDir, repository } from "../harness/index.js";

export function generatePeerCode() {
  const directory = cacheDir("rpc");
  const bin = path.join(repository, "bench/node_modules/.bin");
  if (existsSync(path.join(directory, "record_pb.js"))) return;
  copyFileSync(fileURLToPath(new URL("record.proto", import.meta.url)), path.join(directory, "record.proto"));
  const plugins = [{ local: path.join(bin, "protoc-gen-es"), out: ".", opt: "target=js" }];
  writeFileSync(path.join(directory, "buf.gen.yaml"), JSON.stringify({ version: "v2", plugins }));
  execFileSync(path.join(bin, "buf"), ["generate"], { cwd: directory, stdio: "inherit" });
}
