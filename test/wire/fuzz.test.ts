/**
 * Hostile bytes: messages of every kind of type, mutated over and over, decoded in a process with little memory. A short
 * run by default, millions in the long profile; `VICEROY_FUZZ=1000000 npx vitest run test/wire/fuzz` says how many.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { assignIds } from "../../compiler/lock/index.js";
import type { Schema } from "../../compiler/model/index.js";
import { openTypeSource, readSchema } from "../../compiler/source/index.js";
import { cases } from "../profile.js";
import { bundleGenerated } from "./load-generated.js";

const counts = { lockstep: cases(20_000, 1_000_000), protobuf: cases(20_000, 10_000_000) };
const seed = Number(process.env["VICEROY_SEED"] ?? 1);
const goldens = fileURLToPath(new URL("../compiler/emit/golden/", import.meta.url));

/** The schemas of the golden cases that hold data alone. */
function schemaOfEverything(): Schema {
  const cases = ["choices", "collections", "generics", "presence", "recursion", "scalars"];
  const texts = cases.flatMap((name) =>
    readdirSync(path.join(goldens, name, "input"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => ({
        path: `schemas/${name}/${file}`,
        text: readFileSync(path.join(goldens, name, "input", file), "utf8"),
      })),
  );
  const source = openTypeSource({ exists: () => false });
  source.update(texts);
  return assignIds(readSchema(source, "fuzz").schema).schema;
}

test.each(["lockstep", "protobuf"] as const)(
  "hostile bytes in the %s layout are decoded or refused within the promised memory",
  async (layout) => {
    const count = Number(process.env["VICEROY_FUZZ"] ?? counts[layout]);
    const schema = schemaOfEverything();
    const folder = mkdtempSync(path.join(tmpdir(), "viceroy-fuzz-"));
    try {
      const [child, script, model] = ["child.cjs", "generated.cjs", "schema.json"].map((file) =>
        path.join(folder, file),
      );
      const entry = fileURLToPath(new URL("fuzz-child.ts", import.meta.url));
      await build({ entryPoints: [entry], bundle: true, platform: "node", outfile: child!, logLevel: "silent" });
      writeFileSync(script!, await bundleGenerated(schema));
      writeFileSync(model!, JSON.stringify(schema));
      const args = ["--max-old-space-size=32", child!, layout, script!, model!, String(count), String(seed)];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      const result = JSON.parse(stdout) as { count: number; accepted: number; heaviest: number; subjects: number };
      console.log(stdout.trim());
      expect(result.count).toBe(count);
      expect(result.subjects).toBeGreaterThan(15);
      expect(result.accepted).toBeGreaterThan(count / 100);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  3_600_000,
);
