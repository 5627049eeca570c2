/**
 * Runs the sample of `viceroy init` in a container: a root file system of a few Debian packages (.ci/container.mjs), with
 * Node.js and the runtime package. There is no compiler of C++ and none of schemas in it.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installInto } from "../examples/project.js";
import { makeMountPoints, runInRoot } from "./elsewhere/root-folder.js";
import { application, installRuntime, packAll, root, succeed } from "./packed.js";

const image = path.join(root, ".peers/container");
if (!existsSync(image) && process.env["VICEROY_PEERS"] === "required" && process.platform === "linux") {
  throw new Error("cannot find .peers/container. Run `npm run peers`");
}

const cli = path.join(root, "dist/cli/viceroy.js");
let folder: string;
let container: string;

function inContainer(...command: readonly string[]) {
  return runInRoot(container, "/bin/sh", "-c", 'cd /app && exec "$@"', "sh", ...command);
}

describe.runIf(existsSync(image) && process.arch === "x64")("in a container", () => {
  beforeAll(async () => {
    folder = application("viceroy-container-");
    container = path.join(folder, "root");
    const app = path.join(folder, "app");
    // The stage that builds: the compiler is installed, and TypeScript becomes JavaScript.
    const stage = path.join(folder, "stage");
    mkdirSync(stage);
    installInto(stage);
    succeed(process.execPath, [cli, "init"], stage);
    succeed(process.execPath, [cli, "compile"], stage);
    const main = path.join(stage, "src/main.ts");
    // A link through shared memory is a mapping of anonymous memory with a name.
    const links = `import { readFileSync } from "node:fs";\nconsole.log("shared memory:", readFileSync("/proc/self/maps", "utf8").includes("memfd:viceroy-link"));\n`;
    const text = readFileSync(main, "utf8");
    writeFileSync(main, text.replace("await procs.stop();", `${links}await procs.stop();`));
    succeed(process.execPath, [path.join(root, "node_modules/typescript/bin/tsc"), "-p", "."], stage);
    // The stage that runs: production dependencies and JavaScript.
    installRuntime(app, await packAll());
    cpSync(path.join(stage, "build"), path.join(app, "build"), { recursive: true });
    cpSync(image, container, { recursive: true, verbatimSymlinks: true });
    cpSync(app, path.join(container, "app"), { recursive: true, verbatimSymlinks: true });
    makeMountPoints(container);
    mkdirSync(path.join(container, "usr/local/bin"), { recursive: true });
    cpSync(process.execPath, path.join(container, "usr/local/bin/node"));
    if (!existsSync(path.join(container, "bin/sh"))) {
      throw new Error("cannot make the container: there is no /bin/sh in .peers/container");
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("there is no compiler", () => {
    for (const program of ["g++", "cc", "python3", "npm"]) {
      expect(inContainer("/bin/sh", "-c", `command -v ${program}`)).toMatchObject({ code: 127, stdout: "" });
    }
    expect(existsSync(path.join(container, "app/node_modules/@viceroy/compiler"))).toBe(false);
  });

  test("the quick start runs, and its processes are linked through shared memory", () => {
    const { code, stdout, stderr } = inContainer("node", "build/src/main.js");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("[ 4, 4, 4, 4 ]\n");
    expect(stdout).toContain("shared memory: true\n");
  });

  test("viceroy run and doctor need no compiler, and the addon is the prebuilt one", () => {
    const command = "node_modules/.bin/viceroy";
    expect(inContainer("node", command, "run", "build/src/main.js").stdout).toContain("shared memory: true\n");
    const { code, stdout } = inContainer("node", command, "doctor");
    expect(stdout).toContain("ok      processes of this machine are linked through shared memory");
    expect(stdout).toContain("ok      RDMA addon /app/node_modules/@viceroy/addon-linux-x64-gnu/viceroy-rdma-");
    expect(stdout).toContain("ok      RdmaBuffer by shared, one-sided");
    expect(code).toBe(0);
  });
});
