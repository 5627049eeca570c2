import { spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { renderAnnotation } from "../../../compiler/diagnostics/index.js";
import { folderWith } from "../folder.js";

const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));

const found = { code: "VC1101", severity: "error", file: "a.ts", line: 3, column: 7, text: "cannot send any" } as const;

test("a diagnostic is one workflow command, and its fix is on a line of its own", () => {
  expect(renderAnnotation(found, "app/a.ts")).toBe("::error file=app/a.ts,line=3,col=7,title=VC1101::cannot send any");
  expect(renderAnnotation({ ...found, severity: "warning", fix: "Name it." }, "a.ts")).toBe(
    "::warning file=a.ts,line=3,col=7,title=VC1101::cannot send any%0Afix: Name it.",
  );
});

test("texts and paths are escaped, so that they can neither end the command nor start another", () => {
  const text = "100%\r\n::warning::no, a::b";
  expect(renderAnnotation({ ...found, text }, "a:b,c\n%.ts")).toBe(
    "::error file=a%3Ab%2Cc%0A%25.ts,line=3,col=7,title=VC1101::100%25%0D%0A::warning::no, a::b",
  );
});

test("in a workflow annotations are printed in addition, with paths relative to the checkout", () => {
  const workspace = folderWith({
    "app/package.json": '{ "name": "shop", "type": "module" }',
    "app/viceroy.config.ts": 'export default { schemas: "schemas/**/*.ts" };\n',
    "app/schemas/a.ts": "export interface A {\n  value: any;\n}\n",
  });
  const run = (more: NodeJS.ProcessEnv, ...options: readonly string[]) => {
    const { GITHUB_ACTIONS, GITHUB_WORKSPACE, ...rest } = process.env;
    const env = { ...rest, ...more };
    const cwd = path.join(workspace, "app");
    return spawnSync(process.execPath, [cli, "compile", "--check", ...options], { cwd, env, encoding: "utf8" });
  };
  const annotation =
    "::error file=app/schemas/a.ts,line=2,col=10,title=VC1101::cannot send any: it does not describe its values" +
    "%0Afix: Name the type of the value. For several types, use `Oneof<{ a: A; b: B }>`. " +
    'For any JSON value, use `Value` of "viceroy/schema".\n';
  const here = { GITHUB_ACTIONS: "true", GITHUB_WORKSPACE: workspace };
  const annotated = run(here);
  expect(annotated.status).toBe(2);
  expect(annotated.stdout).toBe(annotation);
  expect(annotated.stderr).toContain("schemas/a.ts:2:10 error VC1101: cannot send any");
  const plain = run({});
  expect(plain.stdout).toBe("");
  expect(plain.stderr).toBe(annotated.stderr);
  // Programs that ask for JSON must not get annotations in it.
  expect(run(here, "--json").stdout).toBe(run({}, "--json").stdout);
});
