import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { machineParts } from "./machine/parts.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const parts = machineParts();
const headers = ["/usr/include", ...(parts === undefined ? [] : [path.join(parts.folder, "usr/include")])];
const header = headers.find((folder) => existsSync(path.join(folder, "infiniband/verbs.h")));
const compiler = process.env["CXX"] || "g++";
const missing = header === undefined || spawnSync(compiler, ["--version"]).error !== undefined;
if (missing && process.env["VICEROY_PEERS"] === "required") {
  throw new Error("cannot compare with libibverbs: its header or g++ is missing. Run `npm run peers`");
}

describe.skipIf(missing)("the binary interface of libibverbs", () => {
  test("is declared as in the header of libibverbs", () => {
    const flags = ["-std=c++17", "-Wall", "-Wno-invalid-offsetof", "-Werror", "-fsyntax-only"];
    const includes = [path.join(root, "native/rdma"), header!].map((folder) => `-I${folder}`);
    const source = path.join(root, "test/rdma/verbs-abi.cc");
    const { status, stderr } = spawnSync(compiler, [...flags, ...includes, source], { encoding: "utf8" });
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });
});
