import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import {
  doctor,
  libtorchFinding,
  loaderFinding,
  nodeFinding,
  rdmaFindings,
  spareFindings,
  tensorFinding,
} from "../../../compiler/cli/commands/doctor.js";
import { moduleVariable } from "../../../compiler/cli/commands/repl.js";
import { nodeFlags, run } from "../../../compiler/cli/commands/run.js";
import { prebuiltPackage } from "../../../native/prebuilt-addon.js";
import { addFiles, folderWith, TestIo } from "../folder.js";

const noRdma = { why: "it has not been built", ptraceScope: 0, transports: [], links: "Unix sockets" };

const tsx = {
  "node_modules/tsx/package.json": '{ "name": "tsx", "version": "1.0.0" }',
  "node_modules/tsx/index.js": "",
};

test("run reports a missing script and exits with 3", async () => {
  const io = new TestIo();
  expect(await run("nowhere/x.ts", [], undefined, io)).toBe(3);
  expect(io.errors).toEqual(["cannot run nowhere/x.ts: no such file"]);
});

test("running TypeScript without tsx gives an error that names the package to install", () => {
  const folder = folderWith({ "x.ts": "" });
  expect(nodeFlags(`${folder}/x.ts`, undefined)).toBe(
    "cannot run x.ts: running TypeScript needs tsx, which is not installed. Run `npm install --save-dev tsx`",
  );
});

test("a JavaScript program runs without a loader and keeps its own exit code", async () => {
  const folder = folderWith({ "x.mjs": "process.exitCode = Number(process.argv[2]);" });
  expect(nodeFlags(`${folder}/x.mjs`, undefined)).toEqual([]);
  expect(await run(`${folder}/x.mjs`, ["7"], undefined, new TestIo())).toBe(7);
});

test("the REPL variables of generated modules are valid JavaScript identifiers", () => {
  expect(moduleVariable("generated", "generated/a/my-store.ts")).toBe("a_myStore");
  expect(moduleVariable("out/gen", "out/gen/3d.ts")).toBe("_3d");
});

test("doctor prints each problem with its remedy and exits with 1", async () => {
  const folder = folderWith({ ...tsx, "viceroy.config.ts": "export default {}", "package.json": '{"name":"shop"}' });
  const io = new TestIo();
  expect(await doctor(folder, io, async () => false, noRdma)).toBe(1);
  expect(io.lines).toContain("PROBLEM generated code is not up to date");
  expect(io.lines).toContain("        run `npx viceroy compile`");
  expect(io.lines.at(-1)).toBe("1 problem.");
});

test("doctor tells of spare processes, and of their memory if it may read it", () => {
  expect(spareFindings([])).toEqual([]);
  const one = { pid: 7, memory: 20 * 2 ** 20 };
  expect(spareFindings([one]).map(({ text }) => text)).toEqual([
    "1 spare process waits to become one of a program, with 20 MiB of memory: process 7; `viceroy host --spares 0` and the option spares of spawnProcs start none",
  ]);
  expect(spareFindings([one, { pid: 9, memory: undefined }]).map(({ text }) => text)).toEqual([
    "2 spare processes wait to become one of a program: process 7, 9; `viceroy host --spares 0` and the option spares of spawnProcs start none",
  ]);
});

test("doctor reports a project without a package name", async () => {
  const folder = folderWith({ "viceroy.config.ts": "export default {}" });
  const io = new TestIo();
  expect(await doctor(folder, io, async () => true, noRdma)).toBe(1);
  expect(io.lines).toContainEqual(
    expect.stringMatching(/^PROBLEM cannot use the project: expected a package\.json with a "name"/),
  );
});

test("doctor finds no problem in a project whose generated code is up to date", async () => {
  const folder = folderWith(tsx);
  addFiles(folder, { "viceroy.config.ts": "export default {}", "package.json": '{"name":"shop"}' });
  const io = new TestIo();
  expect(await doctor(folder, io, async () => true, noRdma)).toBe(0);
  expect(io.lines).toContain(`ok      Node.js ${process.versions.node}`);
  expect(io.lines.at(-1)).toBe("No problems.");
});

test("doctor reports a Node.js version that is too old", () => {
  expect(nodeFinding("18.20.1")).toEqual({
    level: "problem",
    text: "Node.js 18.20.1 is too old",
    advice: "Viceroy needs Node.js 20.9 or newer: install one from nodejs.org or your package manager",
  });
  expect(nodeFinding("20.9.0").level).toBe("ok");
});

test("doctor lists the RDMA addon and the transports that RdmaBuffer can use", () => {
  expect(rdmaFindings(noRdma)).toEqual([
    {
      level: "note",
      text: "no RDMA addon: it has not been built",
      advice:
        prebuiltPackage() === undefined
          ? "run `npx viceroy setup --rdma`, which needs g++ and takes some seconds"
          : `run \`npm install ${prebuiltPackage()}\`, or \`npx viceroy setup --rdma\`, which needs g++ and takes some seconds`,
    },
  ]);
  const transports = [
    { transport: "vm", oneSided: true },
    { transport: "stream", oneSided: false },
    { transport: "verbs", oneSided: true, why: "there is no device" },
  ];
  expect(
    rdmaFindings({ addon: "/x.node", ptraceScope: 1, transports, links: "" }).map(
      ({ level, text: what }) => `${level} ${what}`,
    ),
  ).toEqual([
    "ok RDMA addon /x.node",
    "ok RdmaBuffer by vm, one-sided",
    "ok RdmaBuffer by stream, through the owner's event loop",
    "note no RdmaBuffer by verbs: there is no device",
    "note ptrace_scope is 1: the transport vm cannot access other processes, or only those of children",
  ]);
});

test("doctor reports whether a tensor addon exists without loading it", () => {
  expect(tensorFinding({ VICEROY_TENSOR_ADDON: "/nowhere.node" })).toEqual({
    level: "note",
    text: "no tensor addon: there is no /nowhere.node",
    advice: "install libtorch and run `npx viceroy setup --tensor`",
  });
  expect(tensorFinding({ VICEROY_TENSOR_ADDON: "off" }).text).toBe('no tensor addon: VICEROY_TENSOR_ADDON is "off"');
  const there = { VICEROY_TENSOR_ADDON: process.execPath, VICEROY_STACK_ADDON: process.execPath };
  expect(tensorFinding(there)).toEqual({
    level: "ok",
    text: `tensor addon ${process.execPath}, with ${process.execPath}`,
  });
  expect(tensorFinding({ ...there, VICEROY_STACK_ADDON: "/nowhere.node" })).toEqual({
    level: "note",
    text: `tensor addon ${process.execPath}, without the addon that finds the place of an operation faster: there is no /nowhere.node`,
    advice:
      "run `npx viceroy setup --tensor` on a machine with the headers of Node.js: it halves the time of an operation",
  });
});

test("doctor names the libtorch for the addon build and the versions that Viceroy is tested with", () => {
  const root = mkdtempSync(path.join(tmpdir(), "viceroy-doctor-"));
  try {
    const torch = path.join(root, ".venv/lib/python3.12/site-packages/torch");
    const header = path.join(torch, "include/torch/csrc/api/include/torch/version.h");
    mkdirSync(path.dirname(header), { recursive: true });
    mkdirSync(path.join(torch, "lib"));
    for (const name of ["libc10.so", "libtorch_cpu.so"]) writeFileSync(path.join(torch, "lib", name), "");
    const writeVersion = (minor: number) =>
      writeFileSync(header, `#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR ${minor}\n`);
    writeVersion(15);
    expect(libtorchFinding(root, {})).toEqual({ level: "ok", text: `libtorch 2.15 of ./.venv, in ${torch}/lib` });
    writeVersion(3);
    expect(libtorchFinding(root, {})).toEqual({
      level: "note",
      text: `libtorch 2.3 of ./.venv, in ${torch}/lib; Viceroy is tested with 1.13, 2.6, 2.14, 2.15`,
      advice: "if an operation fails unexpectedly, use one of these versions",
    });
    expect(libtorchFinding(root, { LIBTORCH: path.join(root, "nowhere") })).toEqual({
      level: "note",
      text: "no libtorch to build the tensor addon with; Viceroy is tested with 1.13, 2.6, 2.14, 2.15",
      advice: "install libtorch-dev of Debian, or torch of PyPI in ./.venv",
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test("doctor reports whether programs in TypeScript can be run", () => {
  const found = (...packages: readonly string[]) => {
    const files = packages.flatMap((name) => [
      [`node_modules/${name}/package.json`, `{ "name": "${name}", "version": "1.0.0" }`],
      [`node_modules/${name}/index.js`, ""],
    ]);
    return loaderFinding(`${folderWith(Object.fromEntries(files))}/viceroy.config.ts`);
  };
  expect(found("tsx")).toEqual({ level: "ok", text: "tsx found: programs in TypeScript can be run" });
  expect(found("typescript")).toEqual({
    level: "note",
    text: "tsx not found: programs in TypeScript must be compiled before they can be run",
    advice: "run `npm install --save-dev tsx` to run them directly",
  });
  expect(found()).toEqual({
    level: "problem",
    text: "tsx and typescript not found: generated code is TypeScript and cannot be run",
    advice: "run `npm install --save-dev tsx typescript @types/node`",
  });
});
