/** Tests that worker processes load one copy of the package if it is a link, as with workspaces and pnpm. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "../..");

test.each(["socket", "memory"])(
  "a task of a package that is a link is found by workers with links over %s",
  (links) => {
    const folder = mkdtempSync(path.join(tmpdir(), "linked-"));
    mkdirSync(path.join(folder, "node_modules"));
    symlinkSync(root, path.join(folder, "node_modules/viceroy"));
    writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(
      path.join(folder, "tasks.js"),
      'import { task } from "viceroy/tasks";\nexport const next = task(import.meta.url, "next", (n) => n + 1);\n',
    );
    writeFileSync(
      path.join(folder, "main.js"),
      `import { JobContext } from "viceroy/tasks";
import { next } from "./tasks.js";
const context = await JobContext.open({ procs: 1 });
console.log(await context.get(context.run(next, 1)));
await context.close();
`,
    );
    const env = { ...process.env, VICEROY_LINKS: links };
    expect(execFileSync(process.execPath, ["main.js"], { cwd: folder, env, encoding: "utf8" })).toBe("2\n");
  },
);
