/** The tensor addon: nothing else needs it, and errors say what to do if the addon or libtorch is missing. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { describeLibtorch, findLibtorch, libtorchFlags, testedTexts } from "../../native/libtorch.js";
import { run } from "../examples/program.js";
import { describeTensors } from "./addon.js";

const programs = fileURLToPath(new URL("programs/", import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), "tensor-addon-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("without the addon, importing prints nothing, and the first tensor throws an error with advice", async () => {
  const nowhere = path.join(folder, "nowhere.node");
  const program = path.join(programs, "without-addon.mjs");
  const { code, stdout, stderr } = await run(process.execPath, [program], folder, { VICEROY_TENSOR_ADDON: nowhere });
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout:
      `ERR_TENSOR_ADDON: tensors need the addon, and it has not been built: there is no ${nowhere}. Install libtorch (on Debian: ` +
      "apt-get install g++ libtorch-dev libopenblas0-openmp; or torch of PyPI in ./.venv), then run `npx viceroy setup --tensor`, " +
      "or set VICEROY_TENSOR_ADDON to the path of an addon that was built elsewhere\n",
    stderr: "",
  });
});

/** A folder that looks like that of libtorch, below the one of these tests. */
function libtorchIn(name: string, major: number, minor: number, strings = ""): string {
  const root = path.join(folder, name);
  const headers = path.join(root, "include/torch/csrc/api/include/torch");
  mkdirSync(headers, { recursive: true });
  mkdirSync(path.join(root, "lib"));
  writeFileSync(
    path.join(headers, "version.h"),
    `#define TORCH_VERSION_MAJOR ${major}\n#define TORCH_VERSION_MINOR ${minor}\n`,
  );
  writeFileSync(path.join(root, "lib/libc10.so"), strings);
  writeFileSync(path.join(root, "lib/libtorch_cpu.so"), "");
  return root;
}

test("libtorch is found through VICEROY_LIBTORCH, with the compiler flags that its version needs", () => {
  const root = libtorchIn("named", 2, 6, "_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic");
  const found = findLibtorch({ VICEROY_LIBTORCH: root });
  expect(found).toMatchObject({ source: "$VICEROY_LIBTORCH", version: 206, hasCxx11Strings: true });
  const { compile, link } = libtorchFlags(found);
  expect(compile).toEqual([
    "-std=c++17",
    `-isystem${root}/include`,
    `-isystem${root}/include/torch/csrc/api/include`,
    "-D_GLIBCXX_USE_CXX11_ABI=1",
  ]);
  expect(link).toContain(`-Wl,-rpath,${root}/lib`);
  const newest = libtorchFlags(findLibtorch({ LIBTORCH: libtorchIn("newest", 2, 14) }));
  expect(newest.compile).toEqual(expect.arrayContaining(["-std=c++20", "-D_GLIBCXX_USE_CXX11_ABI=0"]));
});

test("a Python environment that is active or in the project takes precedence over the system", () => {
  const project = path.join(folder, "project");
  const torchIn = (environment: string, minor: number) => {
    libtorchIn(path.join(environment, "lib/python3.11/site-packages/torch"), 2, minor);
    return path.join(folder, environment);
  };
  const found = (env: NodeJS.ProcessEnv = {}) => findLibtorch(env, project);
  const places: [string, number][] = [
    ["project/venv", 7],
    ["project/.venv", 8],
  ];
  for (const [environment, minor] of places) {
    const root = torchIn(environment, minor);
    expect(found()).toMatchObject({
      source: `./${path.basename(environment)}`,
      version: 200 + minor,
      libraryFolder: path.join(root, "lib/python3.11/site-packages/torch/lib"),
    });
  }
  const active = torchIn("active", 15);
  expect(found({ VIRTUAL_ENV: active })).toMatchObject({ source: "$VIRTUAL_ENV", version: 215 });
  // An environment without PyTorch is skipped, and a folder that is named explicitly comes first.
  mkdirSync(path.join(folder, "empty/lib/python3.11/site-packages"), { recursive: true });
  expect(found({ VIRTUAL_ENV: path.join(folder, "empty") })).toMatchObject({ source: "./.venv", version: 208 });
  expect(found({ VIRTUAL_ENV: path.join(folder, "nowhere") })).toMatchObject({ source: "./.venv", version: 208 });
  const named = path.join(active, "lib/python3.11/site-packages/torch");
  expect(found({ VIRTUAL_ENV: active, LIBTORCH: named })).toMatchObject({ source: "$LIBTORCH" });
});

test("describeLibtorch names the version, and lists the tested versions for an untested one", () => {
  const root = libtorchIn("described", 2, 15);
  const other = libtorchIn("untested", 2, 9);
  expect(describeLibtorch(findLibtorch({ LIBTORCH: root }))).toBe(`libtorch 2.15 of $LIBTORCH, in ${root}/lib`);
  expect(describeLibtorch(findLibtorch({ LIBTORCH: other }))).toBe(
    `libtorch 2.9 of $LIBTORCH, in ${other}/lib; Viceroy is tested with 1.13, 2.6, 2.14, 2.15`,
  );
});

test("the tested versions in messages are the versions that the tests run with", async () => {
  // A computed name, which TypeScript does not resolve: scripts of .ci have no types.
  const wheels: string = new URL("../../.ci/wheels.mjs", import.meta.url).href;
  const { torchVersions } = (await import(wheels)) as { torchVersions: readonly string[] };
  expect(testedTexts.split(", ")).toEqual(["1.13", ...torchVersions.map((one) => one.split(".", 2).join("."))]);
});

test("a named folder without libtorch, or with a version that is too old, is refused with advice", () => {
  const advice =
    "Install it (packages libtorch-dev and libopenblas0-openmp of Debian, or torch of PyPI in ./.venv), or set VICEROY_LIBTORCH " +
    "to a folder that contains include/ and lib/";
  expect(() => findLibtorch({ VICEROY_LIBTORCH: folder })).toThrow(
    "cannot find libtorch, with which the tensor addon is built:\n" +
      `  $VICEROY_LIBTORCH: there is no ${folder}/include/torch/csrc/api/include/torch/version.h\n${advice}`,
  );
  const old = libtorchIn("old", 1, 8);
  expect(() => findLibtorch({ VICEROY_LIBTORCH: old })).toThrow(
    `  $VICEROY_LIBTORCH: ${old}/lib has libtorch 1.8, which is older than 1.13\n`,
  );
});

test("setup prints the same error and exits with code 1", async () => {
  const viceroy = fileURLToPath(new URL("../../dist/cli/viceroy.js", import.meta.url));
  const { code, stdout, stderr } = await run(process.execPath, [viceroy, "setup", "--tensor"], folder, {
    VICEROY_LIBTORCH: folder,
  });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(
    "cannot find libtorch, with which the tensor addon is built:\n  $VICEROY_LIBTORCH: there is no ",
  );
});

describeTensors("worker threads", () => {
  test("have their own tensors, also while other threads end during their work", async () => {
    const { code, stdout, stderr } = await run(process.execPath, [path.join(programs, "threads.mjs")], folder);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual(Array(4).fill([2, 4, 6]));
  });
});
