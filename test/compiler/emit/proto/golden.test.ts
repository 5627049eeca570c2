/**
 * Golden cases. After a change that is meant, `UPDATE_GOLDEN=1 npx vitest run test/compiler/emit/proto/golden` writes them
 * anew: read the difference.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { emitProto } from "../../../../compiler/emit/proto/index.js";
import { lowerToProtobuf } from "../../../../compiler/protobuf/lower/lower.js";
import { listFiles } from "../../folder.js";
import { cases, casesFolder, inputOfCase } from "./cases.js";

test.each(cases)("%s is emitted as expected", (name) => {
  const { files, diagnostics } = emitProto(inputOfCase(name));
  expect(diagnostics).toEqual([]);
  const expected = path.join(casesFolder, name, "expected");
  if (process.env["UPDATE_GOLDEN"] === "1") {
    rmSync(expected, { recursive: true, force: true });
    for (const { path: file, content } of files) {
      mkdirSync(path.dirname(path.join(expected, file)), { recursive: true });
      writeFileSync(path.join(expected, file), content);
    }
  }
  expect(files.map((file) => file.path).sort()).toEqual(listFiles(expected));
  for (const file of files) expect(file.content, file.path).toBe(readFileSync(path.join(expected, file.path), "utf8"));
});

test.each(cases)("%s is lowered alike whatever the order of its files", (name) => {
  const { schema, lock, lowered } = inputOfCase(name);
  const shuffled = { ...schema, modules: [...schema.modules].reverse() };
  expect(lowerToProtobuf(shuffled, lock, { package: "golden.v1", schemaRoot: "schemas" })).toEqual(lowered);
});
