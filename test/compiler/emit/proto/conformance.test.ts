import { rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { emitProto } from "../../../../compiler/emit/proto/index.js";
import { peer, runPeer } from "../../../peers.js";
import { emitInto, inputOf, protoFiles, schemasIn } from "./lowered.js";

const schemas = fileURLToPath(new URL("../../../fixtures/conformance/schemas", import.meta.url));

test.skipIf(peer("protoc") === undefined)("the messages of protobuf's conformance suite keep all their names", () => {
  const input = inputOf(schemasIn(schemas));
  const { folder, files } = emitInto(emitProto, input);
  const names = protoFiles(files);
  const { stderr } = runPeer("protoc", ["-I", path.join(folder, "proto"), "-o", path.join(folder, "x"), ...names]);
  rmSync(folder, { recursive: true });
  expect(stderr).toBe("");
  const { enums, messages } = input.lowered.schema;
  expect(enums.get("golden.v1.AliasedEnum")?.values.map(({ name, number }) => `${name} = ${number}`)).toEqual([
    "ALIAS_FOO = 0",
    "ALIAS_BAR = 1",
    "ALIAS_BAZ = 2",
    "MOO = 2",
    "moo = 2",
    "bAz = 2",
  ]);
  const fields = messages.get("golden.v1.TestAllTypesProto3")?.fields ?? [];
  expect(fields.filter(({ number }) => number > 400).map(({ name }) => name)).toEqual(
    (
      "fieldname1 field_name2 _field_name3 field__name4_ field0name5 field_0_name6 fieldName7 FieldName8 field_Name9 " +
      "Field_Name10 FIELD_NAME11 FIELD_name12 __field_name13 __Field_name14 field__name15 field__Name16 field_name17__ " +
      "Field_name18__"
    ).split(" "),
  );
});
