import { expect, test } from "vitest";
import { emitProto } from "../../../../compiler/emit/proto/index.js";
import { readPage } from "../../../examples/markdown.js";
import { inputOf, inputOfSchema } from "./lowered.js";

test("the page on interoperability shows the .proto file that is emitted for its schema", () => {
  const { fences } = readPage("docs/reference/interop.md");
  const schema = fences.find(({ code }) => code.startsWith("// schemas/shop.ts\n"));
  const proto = fences.find(({ language }) => language === "proto");
  const input = inputOf([{ path: "schemas/shop.ts", text: schema?.code ?? "" }]);
  const { files } = emitProto(inputOfSchema(input.schema, input.lock, "acme.shop.v1"));
  expect(files).toEqual([{ path: "proto/acme/shop/v1/shop.proto", content: `${proto?.code}\n` }]);
});

test("the page on the schema language shows the .proto text that is emitted for its namespace", () => {
  const { fences } = readPage("docs/reference/schema-language.md");
  const schema = fences.find(({ code }) => code.startsWith("// schemas/order.ts\n"));
  const proto = fences.find(({ language }) => language === "proto");
  const [file] = emitProto(inputOf([{ path: "schemas/order.ts", text: schema?.code ?? "" }])).files;
  expect(String(file?.content).split("package golden.v1;\n\n")[1]).toBe(`${proto?.code}\n`);
});
