/** Checks that the script that forbids upward dependencies between layers finds each of them. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterEach, expect, test } from "vitest";

const script = path.resolve(import.meta.dirname, "../../.ci/layers.mjs");
const trees: string[] = [];

afterEach(() => {
  for (const tree of trees.splice(0)) rmSync(tree, { recursive: true, force: true });
});

/** @returns the lines that name a forbidden import, in a tree of files each of which imports one other file or package. */
function forbidden(imports: Readonly<Record<string, string>>): string[] {
  const tree = mkdtempSync(path.join(tmpdir(), "viceroy-layers-"));
  trees.push(tree);
  const write = (file: string, text: string) => {
    mkdirSync(path.dirname(path.join(tree, file)), { recursive: true });
    writeFileSync(path.join(tree, file), text);
  };
  for (const folder of ["compiler", "generated", "native", "runtime", "schemas", "shared"])
    write(`${folder}/empty.ts`, "");
  for (const target of Object.values(imports)) if (target.endsWith(".ts")) write(target, "export const x = 1;\n");
  for (const [file, target] of Object.entries(imports)) {
    const specifier = target.endsWith(".ts")
      ? path.relative(path.dirname(file), target).replace(/^(?!\.)/, "./")
      : target;
    write(file, `import type { x } from "${specifier.replace(/\.ts$/, ".js")}";\nexport type Y = typeof x;\n`);
  }
  const result = spawnSync(process.execPath, [script, "--tree", tree], { encoding: "utf8" });
  // Continuous integration may ask for colours, whose codes would stand between the words that are matched below.
  const stdout = stripVTControlCharacters(result.stdout);
  if (!stdout.includes("dependencies cruised") && !stdout.includes("no dependency violations"))
    throw new Error(result.stderr);
  return [...stdout.matchAll(/error .*: (\S+) → ?\n? *(\S+)/g)].map(([, from, to]) => `${from} -> ${to}`).sort();
}

const pairs = (imports: Readonly<Record<string, string>>) =>
  Object.entries(imports)
    .map(([from, to]) => `${from} -> ${to}`)
    .sort();

test("an import of a higher layer or of the other side is reported, even if it imports only a type", () => {
  const upwards = {
    "runtime/wire/a.ts": "runtime/shape/region.ts",
    "runtime/wire/b.ts": "runtime/link/frame/frame.ts",
    "runtime/wire/c.ts": "compiler/model/schema.ts",
    "runtime/shape/a.ts": "runtime/wire/reader.ts",
    "runtime/link/a.ts": "runtime/actor/cell/turn.ts",
    "runtime/link/b.ts": "runtime/cast/sender/cast-sender.ts",
    "runtime/link/unix/a.ts": "runtime/host/mesh/host-mesh.ts",
    "runtime/cast/a.ts": "runtime/actor/cell/mailbox.ts",
    "runtime/actor/a.ts": "runtime/supervise/mesh-failure.ts",
    "runtime/actor/proc/b.ts": "runtime/proc/agent/proc-agent.ts",
    "runtime/supervise/a.ts": "runtime/proc/platform/platform.ts",
    "runtime/proc/a.ts": "runtime/host/attach-hosts.ts",
    "runtime/host/a.ts": "runtime/codegen/v1/index.ts",
    "runtime/host/b.ts": "viceroy",
    "runtime/host/c.ts": "runtime/bundle/load.ts",
    "runtime/a.ts": "compiler/model/lock.ts",
    "runtime/b.ts": "ts-morph",
    "runtime/c.ts": "runtime/tensor/index.ts",
    "runtime/capnp/a.ts": "runtime/thrown.ts",
    "runtime/codegen/v1/a.ts": "runtime/bundle/entry.ts",
    "runtime/codegen/v1/b.ts": "runtime/tensor/value/tensor.ts",
    "runtime/bundle/a.ts": "runtime/tensor/mesh/tensor-mesh.ts",
    "runtime/tensor/a.ts": "runtime/proc/launch/stdio.ts",
    "runtime/native/b.ts": "runtime/rdma/grant/grant-table.ts",
    "shared/a.ts": "compiler/model/schema.ts",
    "shared/protobuf/a.ts": "shared/evolution/wire-rule.ts",
    "compiler/a.ts": "runtime/wire/writer.ts",
    "compiler/model/a.ts": "ts-morph",
    "compiler/emit/a.ts": "viceroy",
    "compiler/source/a.ts": "@ts-morph/common",
    "compiler/source/ts-morph/a.ts": "runtime/index.ts",
  };
  const found = forbidden(upwards);
  expect([...new Set(found)]).toEqual(pairs(upwards));
});

test("an import of a lower layer is not reported", () => {
  const downwards = {
    "runtime/link/a.ts": "runtime/wire/reader.ts",
    "runtime/actor/a.ts": "runtime/link/frame/frame.ts",
    "runtime/actor/b.ts": "runtime/actor/proc/proc.ts",
    "runtime/supervise/a.ts": "runtime/actor/actor.ts",
    "runtime/proc/a.ts": "runtime/supervise/mesh-failure.ts",
    "runtime/proc/b.ts": "generated/proc-agent.ts",
    "runtime/host/a.ts": "runtime/proc/platform/platform.ts",
    "runtime/a.ts": "runtime/host/attach-hosts.ts",
    "runtime/codegen/v1/a.ts": "runtime/actor/future.ts",
    "runtime/bundle/a.ts": "runtime/codegen/v1/index.ts",
    "runtime/tensor/a.ts": "runtime/index.ts",
    "compiler/source/ts-morph/a.ts": "ts-morph",
    "compiler/emit/a.ts": "compiler/model/schema.ts",
    "compiler/emit/b.ts": "shared/vocabulary.ts",
  };
  expect(forbidden(downwards)).toEqual([]);
});

test("two files that import each other are reported, even if they import only types", () => {
  const cycle = { "runtime/shape/one.ts": "runtime/shape/two.ts", "runtime/shape/two.ts": "runtime/shape/one.ts" };
  expect(forbidden(cycle)).toHaveLength(1);
});
