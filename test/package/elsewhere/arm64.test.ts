/**
 * Runs the addon for arm64 with Node.js for arm64, in an emulator of that processor. The emulator executes memory accesses
 * in the order of x64, so this test cannot find an order of accesses that only Arm's processors allow.
 */
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { application, installRuntime, packAll, root, run } from "../packed.js";
import { buildProgram, newestVersions, type Printed, right } from "./program.js";

const node = path.join(root, ".peers/arm64/bin/node");
const isHere = existsSync(node) && process.platform === "linux" && process.arch === "x64";
if (!isHere && process.env["VICEROY_PEERS"] === "required" && process.platform === "linux" && process.arch === "x64") {
  throw new Error("cannot find .peers/arm64, which needs Debian's g++-aarch64-linux-gnu. Run `npm run peers`");
}

let folder: string;
let app: string;
/** A script that starts Node.js for arm64. */
let starter: string;

/**
 * The emulator shows a process another start time in its own /proc/<pid>/stat than other processes see. By this spelling
 * of the path, the emulator does not recognize the file and shows what the kernel says.
 */
const kernelTimes = `const fs = require("node:fs");
const { readFileSync } = fs;
const own = \`/proc/\${process.pid}/stat\`;
fs.readFileSync = (file, ...options) => readFileSync(file === own ? \`/proc/./\${process.pid}/stat\` : file, ...options);
`;

/** Runs Node.js for arm64 in the folder of the application. */
function onArm64(...args: readonly string[]) {
  return run(starter, args, app, { TEST_NODE: starter, XDG_CACHE_HOME: path.join(folder, "cache") });
}

describe.runIf(isHere)("on arm64", () => {
  beforeAll(async () => {
    folder = application("viceroy-arm64-");
    app = path.join(folder, "app");
    const times = path.join(folder, "kernel-times.cjs");
    writeFileSync(times, kernelTimes);
    starter = path.join(folder, "node");
    writeFileSync(starter, `#!/bin/sh\nexec "${node}" --require "${times}" "$@"\n`, { mode: 0o755 });
    cpSync(buildProgram(folder), path.join(app, "build"), { recursive: true });
    installRuntime(app, await packAll("linux-arm64"), "--force");
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("processes are linked through shared memory, and memory is read and written one-sidedly", () => {
    const { code, stdout, stderr } = onArm64("build/src/main.js");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const printed = JSON.parse(stdout) as Printed;
    expect(printed).toEqual({ ...right, arch: "arm64", sharedLinks: true, transport: "shared" });
  });

  test("viceroy doctor names the addon of the package", () => {
    const { stdout } = onArm64("node_modules/viceroy/dist/cli/viceroy.js", "doctor");
    const addon = path.join(app, "node_modules/@viceroy/addon-linux-arm64-gnu");
    expect(stdout).toContain(`ok      RDMA addon ${addon}/viceroy-rdma-`);
    expect(stdout).toContain("ok      RdmaBuffer by shared, one-sided");
  });

  test("the addon needs no newer libraries than Node.js for arm64", () => {
    const addon = path.join(app, "node_modules/@viceroy/addon-linux-arm64-gnu");
    const [file = ""] = readdirSync(addon).filter((name) => name.endsWith(".node"));
    expect(newestVersions(path.join(addon, file))).toEqual({ GLIBC: "2.28", GLIBCXX: "3.4.21", CXXABI: "1.3.9" });
  });
});
