import { expect, test } from "vitest";
import { emitProto } from "../../../../compiler/emit/proto/index.js";
import { readPage } from "../../../examples/markdown.js";
import { inputOf, inputOfSchema } from "./lowered.js";

test("the page on other languages shows what is emitted", () => {
  const { fences } = readPage("docs/interop.md");
  const schema = fences.find(({ code }) => code.startsWith("// schemas/shop.ts\n"));
  const proto = fences.find(({ language }) => language === "proto");
  const input = inputOf([{ path: "schemas/shop.ts", text: schema?.code ?? "" }]);
  const { files } = emitProto(inputOfSchema(input.schema, input.lock, "acme.shop.v1"));
  expect(files).toEqual([{ path: "proto/acme/shop/v1/shop.proto", content: `${proto?.code}\n` }]);
});
