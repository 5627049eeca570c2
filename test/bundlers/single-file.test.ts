/** Programs of one file, and single executable applications, start their processes from themselves. */
import path from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import { run } from "../examples/program.js";
import { deploy, makeProject } from "./project.js";
import { bundleInline, makeExecutable, nodeOf, postject } from "./tools.js";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let app: string;
beforeAll(async () => {
  const project = await makeProject();
  for (const [format, file] of [
    ["esm", "app.mjs"],
    ["cjs", "app.cjs"],
  ] as const) {
    await bundleInline(project, "src/program.ts", format, `out/${file}`);
  }
  app = deploy(path.join(project, "out"), false);
});

test.each([
  ["ES module", "app.mjs", "process"],
  ["ES module", "app.mjs", "thread"],
  ["CommonJS module", "app.cjs", "process"],
  ["CommonJS module", "app.cjs", "thread"],
])(
  "a program that is one %s (%s) runs actors in isolation %s, where nothing else is installed",
  async (_, file, isolation) => {
    const { stdout, stderr } = await run(process.execPath, [path.join(app, file), isolation], app);
    expect({ stdout, stderr }).toEqual({ stdout: "4,4\n", stderr: "" });
  },
);

test.each(["20", "22", "24"] as const)(
  "a single executable application of Node.js %s starts its processes from the executable, and refuses threads",
  async (version) => {
    const node = nodeOf(version);
    if (node === undefined || postject === undefined) return expect(process.env["VICEROY_PEERS"]).not.toBe("required");
    const executable = await makeExecutable(node, path.join(app, "app.cjs"));
    const folder = path.dirname(executable);
    expect(await run(executable, ["process"], folder)).toEqual({ code: 0, stdout: "4,4\n", stderr: "" });
    expect((await run(executable, ["thread"], folder)).stdout).toBe(
      "cannot start a thread: a single executable application has no script that a thread can run; use isolation " +
        `"process", got ${executable}\n`,
    );
  },
);
