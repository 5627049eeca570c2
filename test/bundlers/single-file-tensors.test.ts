/** A program of one file uses tensors. The addon for tensors and libtorch are beside it, in the cache of the user or at a given path. */
import { copyFileSync, mkdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, expect, test, vi } from "vitest";
import { tensorAddonState } from "../../runtime/native/tensor-addon.js";
import { run } from "../examples/program.js";
import { write } from "../examples/project.js";
import { describeTensors } from "../tensor/addon.js";
import { deploy, makeProject, temporaryFolder } from "./project.js";
import { bundleInline, makeExecutable, nodeOf, postject } from "./tools.js";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const main = `import { thisHost } from "viceroy";
import { inspect, shard } from "viceroy/tensor";

async function main() {
  const procs = thisHost().spawnProcs({ gpus: 2 });
  await procs.activate(async () => {
    const part = shard([[1, 2], [3, 4]], { gpus: 0 });
    console.log(JSON.stringify((await inspect(part.reduce("gpus", "sum"))).toArray()));
  });
  await procs.stop();
}

main().catch((error) => {
  console.log(error.message);
  process.exitCode = 1;
});
`;

/** The processes of a mesh get the actors of `viceroy/tensor` from this file, so it imports them. */
const program = `import { runProgram } from "viceroy";
import "viceroy/tensor";
import "../generated/registry.js";

runProgram(() => import("./tensor-main.js"));
`;

let app: string;
beforeAll(async () => {
  const project = await makeProject();
  write(path.join(project, "src/tensor-main.ts"), main);
  write(path.join(project, "src/tensor-program.ts"), program);
  mkdirSync(path.join(project, "out"));
  await bundleInline(project, "src/tensor-program.ts", "esm", "out/app.mjs");
  await bundleInline(project, "src/tensor-program.ts", "cjs", "out/app.cjs");
  write(path.join(project, "src/incomplete-program.ts"), program.replace('import "viceroy/tensor";\n', ""));
  await bundleInline(project, "src/incomplete-program.ts", "esm", "out/incomplete.mjs");
  await bundleInline(project, "src/incomplete-program.ts", "cjs", "out/incomplete.cjs");
  app = deploy(path.join(project, "out"), false);
});

const files = ["app.mjs", "app.cjs"] as const;

test.each(files)(
  "a program of one file (%s) says how to get the addon for tensors where there is none",
  async (file) => {
    const empty = temporaryFolder();
    const { stdout } = await run(process.execPath, [path.join(app, file)], app, {
      XDG_CACHE_HOME: empty,
      VICEROY_TENSOR_ADDON: "",
    });
    expect(stdout).toContain(`tensors need the addon, and it has not been built: there is no ${empty}/viceroy-addons/`);
    expect(stdout).toMatch(/ or set VICEROY_TENSOR_ADDON to the path of an addon that was built elsewhere\n$/);
  },
);

describeTensors("with the addon for tensors", () => {
  test.each(files)("a program of one file (%s) executes operations on its processes", async (file) => {
    expect(await run(process.execPath, [path.join(app, file)], app)).toEqual({
      code: 0,
      stdout: "[[4,6]]\n",
      stderr: "",
    });
  });

  test.each(["incomplete.mjs", "incomplete.cjs"])(
    "a program of one file (%s) that imports tensors in its main module only is told so",
    async (file) => {
      const { code, stdout } = await run(process.execPath, [path.join(app, file)], app);
      expect(code).toBe(1);
      expect(stdout).toContain(
        "cannot load viceroy/runtime/tensor/worker#StreamWorker: processes of a program of one file know only what the module " +
          `that calls runProgram imports; import "viceroy/tensor" there, got ${pathToFileURL(path.join(app, file)).href}`,
      );
    },
  );

  test("a single executable application loads the addon from the path that VICEROY_TENSOR_ADDON names", async () => {
    const node = nodeOf("22");
    if (node === undefined || postject === undefined) return expect(process.env["VICEROY_PEERS"]).not.toBe("required");
    const executable = await makeExecutable(node, path.join(app, "app.cjs"));
    const folder = path.dirname(executable);
    const built = tensorAddonState();
    copyFileSync(built.addon === undefined ? "" : built.file, path.join(folder, "tensor.node"));
    expect(
      await run(executable, [], folder, {
        XDG_CACHE_HOME: temporaryFolder(),
        VICEROY_TENSOR_ADDON: path.join(folder, "tensor.node"),
      }),
    ).toEqual({ code: 0, stdout: "[[4,6]]\n", stderr: "" });
  });
});
