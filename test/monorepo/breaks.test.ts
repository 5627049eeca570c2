/** `viceroy break` and `compile --accept` in packages of one repository, where a type of one is part of another's messages. */
import { execFileSync } from "node:child_process";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { breakCommand } from "../../compiler/cli/commands/break.js";
import { compile } from "../../compiler/cli/commands/compile.js";
import { Project } from "../../compiler/cli/project.js";
import { TestIo } from "../compiler/folder.js";
import { addFiles, compiled, linkedWorkspace, manifest } from "./light-workspace.js";

const prices = (type: string) => `import type { Actor, Int32 } from "viceroy/schema";
export interface Price { cents: ${type} }
export interface Unused { other: ${type} }
export interface Pricing extends Actor { price(unused: Unused): Price }
`;
let folder: string;

function git(...args: readonly string[]): void {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  execFileSync("git", [...identity, ...args], { cwd: folder, stdio: "ignore" });
}

async function breaks(name: string): Promise<{ readonly code: number; readonly text: string }> {
  const io = new TestIo();
  const options = { against: "HEAD", json: false, classes: undefined };
  const code = await breakCommand(new Project(path.join(folder, name)), options, io);
  return { code, text: [...io.lines, ...io.errors].join("\n") };
}

async function compileWith(name: string, accept: readonly string[]): Promise<{ code: number; text: string }> {
  const io = new TestIo();
  const options = { check: false, json: false, draft: false, base: false, accept } as const;
  const code = await compile(new Project(path.join(folder, name)), options, io);
  return { code, text: [...io.lines, ...io.errors].join("\n") };
}

async function repository(ignored: string): Promise<void> {
  folder = linkedWorkspace({
    "prices/package.json": manifest("prices", "./generated/price.ts"),
    "prices/viceroy.config.ts": 'export default { schemas: "schemas/*.ts", emit: ["ts", "contract"] };\n',
    "prices/schemas/price.ts": prices("Int32"),
    "shop/package.json": manifest("shop", "./generated/shop.ts"),
    "shop/viceroy.config.ts": 'export default { schemas: "schemas/*.ts" };\n',
    "shop/schemas/shop.ts": `import type { Actor } from "viceroy/schema";
import type { Price } from "@acme/prices";
export interface Shop extends Actor { sell(price: Price): void }
`,
  });
  addFiles(folder, { ".gitignore": `node_modules\n.viceroy\n${ignored}` });
  for (const name of ["prices", "shop"]) await compiled(folder, name);
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-q", "-m", "first");
  addFiles(folder, { "prices/schemas/price.ts": prices("string") });
}

const changed = "Price.cents: its type was int32 and is string";

describe("a change of a type that is part of another package's messages", () => {
  beforeAll(() => repository(""));

  test("is a break of both packages, at the type, until its own package accepts it", async () => {
    expect((await breaks("shop")).text).toContain("the contract of @acme/prices is older than its schemas/price.ts");
    const first = await compileWith("prices", []);
    expect(first.text).toContain(changed);
    const own = await breaks("prices");
    expect(own).toMatchObject({ code: 1, text: expect.stringContaining(changed) });
    expect(own.text).toContain("Unused.other: its type was int32 and is string");
    const other = await breaks("shop");
    expect(other).toMatchObject({ code: 1, text: expect.stringContaining(changed) });
    expect(other.text).toMatch(
      /^node_modules\/@acme\/prices\/schemas\/price\.ts:2:\d+ error VC5001 WIRE: Price\.cents: /,
    );
    // The shop sends no value of this type.
    expect(other.text).not.toContain("Unused");
    // The shop's own lock does not change, so there is nothing to accept in the shop.
    const shop = await compileWith("shop", []);
    expect(shop).toEqual({ code: 0, text: expect.not.stringContaining("Price.cents") });
    await expect(compileWith("shop", ["Price.cents"])).rejects.toThrow(
      "cannot accept the change of Price.cents: it is not a breaking change; there are no breaking changes",
    );
    const accepted = await compileWith("prices", ["Price.cents", "Unused.other"]);
    expect(accepted.code).toBe(0);
    // The contract has the new lock at once, so that a check finds no difference.
    expect(accepted.text).toContain("updated generated/contract.json");
    expect((await compileWith("prices", [])).text).not.toContain("updated");
    expect((await compileWith("shop", [])).code).toBe(0);
    for (const name of ["prices", "shop"]) {
      expect(await breaks(name)).toEqual({ code: 0, text: "No breaking changes against HEAD." });
    }
  });

  test("is not hidden or invented by a type of the same name in the package itself", async () => {
    addFiles(folder, {
      "shop/schemas/own.ts": "export interface Price { cents: boolean }\nexport interface Receipt { price: Price }\n",
    });
    expect(await compileWith("shop", [])).toEqual({ code: 0, text: expect.not.stringContaining("warning") });
    expect(await breaks("shop")).toEqual({ code: 0, text: "No breaking changes against HEAD." });
    addFiles(folder, {
      "shop/schemas/own.ts": "export interface Price { cents: string }\nexport interface Receipt { price: Price }\n",
    });
    const { text } = await compileWith("shop", []);
    expect(text).toContain("schemas/own.ts:1:26 warning VC5001 WIRE: Price.cents: its type was bool and is string");
    expect(text.match(/VC5001/g)).toHaveLength(2);
  });
});

test("a contract that is not committed is compared as it is now, which the command says", async () => {
  await repository("generated\n");
  await compileWith("prices", ["Price.cents", "Unused.other"]);
  expect(await breaks("shop")).toEqual({
    code: 0,
    text:
      "No breaking changes against HEAD.\n" +
      "The types of @acme/prices are compared as they are now, because HEAD has no contract of @acme/prices.",
  });
});
