/**
 * Golden cases. After an intended change, `UPDATE_GOLDEN=1 npx vitest run test/compiler/emit/proto/golden` rewrites the
 * files: review the difference.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { emitProto } from "../../../../compiler/emit/proto/index.js";
import { lowerToProtobuf } from "../../../../compiler/protobuf/lower/lower.js";
import { listFiles } from "../../folder.js";
import { cases, casesFolder, inputOfCase } from "./cases.js";

test.each(cases)("the emitted files of %s equal its golden files", (name) => {
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

test.each(cases)("the order of the files of %s does not change its protobuf schema", (name) => {
  const { schema, lock, lowered } = inputOfCase(name);
  const shuffled = { ...schema, modules: [...schema.modules].reverse() };
  expect(lowerToProtobuf(shuffled, lock, { package: "golden.v1", schemaRoot: "schemas" })).toEqual(lowered);
});
